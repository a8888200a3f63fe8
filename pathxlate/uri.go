package pathxlate

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// parseFileURI takes apart a file URI in any spelling that is in use:
// file:///C:/a, file:/C:/a, file:C:/a, file://localhost/C:/a (RFC 8089 and its
// appendix E), file://host/share/a, and file:////host/share/a with four or five
// slashes. It is done by hand because net/url refuses the file://wsl%24/ that
// VS Code writes.
func parseFileURI(uri string) (location, *Error) {
	p := uri[len("file:"):]
	if strings.ContainsAny(p, "?#") {
		return location{}, failWith(ErrUnsupportedURI, suffixRemedy)
	}
	authority := ""
	if hierarchical, ok := strings.CutPrefix(p, "//"); ok {
		authority, p = splitAuthority(hierarchical)
	}
	if len(p) > 2 && p[0] == '/' && isLetter(p[1]) && p[2] == '|' {
		return location{}, failWith(ErrUnsupportedURI, "write a colon after the drive letter")
	}
	authority, err := decodePercent(authority)
	if err != nil {
		return location{}, err
	}
	if p, err = decodePercent(p); err != nil {
		return location{}, err
	}
	if authority != "" && !equalFold(authority, "localhost") {
		if strings.ContainsAny(authority, `:\|`) {
			return location{}, failWith(ErrUnsupportedURI, "write three slashes before a drive: file:///C:/work")
		}
		return parseURIPath("//" + authority + p)
	}
	return parseURIPath(p)
}

const suffixRemedy = "encode ? as %3F and # as %23 when they belong to the name"

// parseURIPath takes apart the decoded path of a file URI.
func parseURIPath(p string) (location, *Error) {
	switch {
	case !strings.HasPrefix(p, "/") && !startsWithDrive(p):
		return location{}, fail(ErrUnsupportedURI)
	case strings.HasPrefix(p, `/\`):
		return location{}, failWith(ErrBadEncoding, "write a network path as file://server/share")
	case strings.HasPrefix(p, "///"): // file://///host/share
		p = p[len("/"):]
	}
	loc, err := parsePath(FormOf(p), p)
	loc.form = FormFileURI
	return loc, err
}

// parseRemoteURI takes apart a URI of VS Code's WSL remote. Its path is one of
// Linux, never escaped for Windows.
func parseRemoteURI(uri string) (location, *Error) {
	loc := location{form: FormRemoteURI, anchor: anchorDistro}
	if strings.ContainsAny(uri, "?#") {
		return loc, failWith(ErrUnsupportedURI, suffixRemedy)
	}
	authority, path := splitRemote(uri)
	authority, err := decodePercent(authority[strings.LastIndexByte(authority, '/')+1:])
	if err != nil {
		return loc, err
	}
	if !hasPrefixFold(authority, "wsl+") {
		return loc, failWith(ErrUnsupportedURI, "open the folder in WSL, not in another remote")
	}
	if path, err = decodePercent(path); err != nil {
		return loc, err
	}
	loc.share = authority[len("wsl+"):]
	loc.rest, err = linuxPath(cmp.Or(path, "/"))
	return loc, err
}

// splitRemote parts a URI of FormRemoteURI behind its authority, the folder of the
// distro's root: "vscode-remote://wsl+Distro".
func splitRemote(uri string) (root, path string) {
	at := strings.Index(uri, "//") + len("//")
	if launch := uri[at:]; hasPrefixFold(uri, "vscode:") {
		at += strings.IndexByte(launch, '/') + 1
	}
	_, path = splitAuthority(uri[at:])
	return uri[:len(uri)-len(path)], path
}

// splitAuthority parts what follows the "//" of a URI into its authority and path.
func splitAuthority(s string) (authority, path string) {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// splitSuffix parts a URI from its ?query#fragment, which may be "". A path has
// none.
func splitSuffix(uri string) (base, suffix string) {
	if i := strings.IndexAny(uri, "?#"); i >= 0 && FormOf(uri).IsURI() {
		return uri[:i], uri[i:]
	}
	return uri, ""
}

// decodePercent decodes the percent encoding of a part of a URI, once. An encoded
// slash is refused, because it would part a name that the sender holds for one.
func decodePercent(s string) (string, *Error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	var plain strings.Builder
	plain.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", failWith(ErrBadEncoding, "encode % as %25 when it belongs to the name")
			}
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			switch c {
			case 0:
				return "", fail(ErrNUL)
			case '/':
				return "", failWith(ErrBadEncoding, "write the slash as it is, not as %2F")
			}
		}
		plain.WriteByte(c)
	}
	if !utf8.ValidString(plain.String()) {
		return "", fail(ErrBadEncoding)
	}
	return plain.String(), nil
}

// appendPercent appends the path of a URI, every byte encoded that RFC 3986 does
// not allow in one.
func appendPercent[P ~string | ~[]byte](dst []byte, path P) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(path) {
		if c := path[i]; isPathChar(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&0xF])
		}
	}
	return dst
}

// appendWindowsURI appends the file URI of an absolute Windows path that has
// forward slashes. It keeps no verbatim prefix.
func appendWindowsURI(dst, windows []byte) []byte {
	authority := "file://"
	switch {
	case hasPrefixFold(windows, "//?/UNC/"):
		windows = windows[len("//?/UNC/"):]
	case hasPrefixFold(windows, "//?/"):
		authority, windows = "file:///", windows[len("//?/"):]
	case hasPrefixFold(windows, "//"):
		windows = windows[len("//"):]
	default:
		authority = "file:///"
	}
	if hasPrefixFold(windows, "localhost/") { // as an authority it would mean no server
		authority = "file:////"
	}
	return appendPercent(append(dst, authority...), windows)
}

// isPathChar reports whether c stands for itself in a URI path (RFC 3986, 3.3).
func isPathChar(c byte) bool {
	const digits uint64 = (1<<10 - 1) << '0'
	const marks uint64 = 1<<'/' | 1<<'-' | 1<<'.' | 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' |
		1<<'*' | 1<<'+' | 1<<',' | 1<<';' | 1<<'=' | 1<<':'
	return c < 64 && (digits|marks)>>c&1 != 0 || isLetter(c) || c == '_' || c == '~' || c == '@'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0xF + 9
}
