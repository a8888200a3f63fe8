package pathxlate

import "strings"

// appendWindowsSegments appends the segments of rest to dst, each behind a slash,
// without empty and "." ones and with ".." resolved. Both separators part
// segments. It fails where a segment is no Windows name, or ".." climbs above the
// length that dst had.
func appendWindowsSegments(dst []byte, rest string) ([]byte, *Error) {
	root := len(dst)
	for start := 0; start < len(rest); {
		end := segmentEnd(rest, start)
		segment := rest[start:end]
		start = end + 1
		switch segment {
		case "", ".":
		case "..":
			if len(dst) == root {
				return dst, fail(ErrAboveRoot)
			}
			dst = parent(dst)
		default:
			if err := checkWindowsName(segment); err != nil {
				return dst, err
			}
			dst = append(dst, '/')
			dst = append(dst, segment...)
		}
	}
	return dst, nil
}

// checkWindowsName refuses what no name on NTFS can hold. Names that only Win32
// minds (NUL, a trailing dot) pass: Linux can open them.
func checkWindowsName(segment string) *Error {
	for i := range len(segment) {
		switch c := segment[i]; {
		case !isForbidden(c):
		case c == ':':
			return fail(ErrADS)
		default:
			return failWith(ErrInvalidChar, "leave out "+quote(string(c)))
		}
	}
	return nil
}

// cleanPOSIX returns the absolute POSIX path p without empty, "." and ".."
// segments; ".." at the root stays at the root. It returns p itself when p is
// clean.
func cleanPOSIX(p string) string {
	if isCleanPOSIX(p) {
		return p
	}
	var stack [stackPath]byte
	clean := stack[:0]
	for segment := range strings.SplitSeq(p, "/") {
		switch segment {
		case "", ".":
		case "..":
			if len(clean) > 0 {
				clean = parent(clean)
			}
		default:
			clean = append(clean, '/')
			clean = append(clean, segment...)
		}
	}
	if len(clean) == 0 {
		return "/"
	}
	return string(clean)
}

func isCleanPOSIX(p string) bool {
	if p == "/" {
		return true
	}
	for i := 0; i < len(p); {
		i++ // the slash
		end := strings.IndexByte(p[i:], '/')
		if end < 0 {
			end = len(p) - i
		}
		switch p[i : i+end] {
		case "", ".", "..":
			return false
		}
		i += end
	}
	return true
}

// parent cuts the last segment, and the slash before it, off a path that has one.
func parent(p []byte) []byte {
	last := len(p) - 1
	for p[last] != '/' {
		last--
	}
	return p[:last]
}

// stackPath is the size of the buffers that keep a path of usual length off the
// heap while it is built.
const stackPath = 256

// isForbidden reports whether c is in no name on NTFS. The slashes, which part
// names, are not counted.
func isForbidden(c byte) bool {
	const below64 uint64 = 1<<' ' - 1 | 1<<'"' | 1<<'*' | 1<<':' | 1<<'<' | 1<<'>' | 1<<'?'
	return c < 64 && below64>>c&1 != 0 || c == '|'
}

// isEscaped reports whether WSL shows the byte c of a Linux name to Windows as
// U+F000+c, because no Windows name can hold it.
func isEscaped(c byte) bool {
	return c != 0 && isForbidden(c) || c == '\\'
}

// appendWindowsNames appends the clean Linux path p ("" or "/a/b") with its names
// as Windows spells them: U+F000+c for each byte c that is escaped.
func appendWindowsNames(dst []byte, p string) []byte {
	for i := range len(p) {
		if c := p[i]; isEscaped(c) {
			dst = append(dst, 0xEF, 0x80|c>>6, 0x80|c&0x3F)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendLinuxNames appends the clean path p of a WSL share with its names as Linux
// spells them: U+F000+c turned back into c where c is a byte that is escaped. Only
// the exact bytes of U+F001 to U+F07C count: wslpath tests bits and so damages
// U+FF1A and U+FE0F.
func appendLinuxNames(dst []byte, p []byte) []byte {
	for i := 0; i < len(p); i++ {
		if p[i] == 0xEF && i+2 < len(p) && p[i+1]&^1 == 0x80 {
			if c := p[i+1]<<6 | p[i+2]&0x3F; isEscaped(c) {
				dst = append(dst, c)
				i += 2
				continue
			}
		}
		dst = append(dst, p[i])
	}
	return dst
}

// replaceSlashes puts separator for each slash of p, in place.
func replaceSlashes(p []byte, separator byte) {
	for i, c := range p {
		if c == '/' {
			p[i] = separator
		}
	}
}
