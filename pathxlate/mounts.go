package pathxlate

import (
	"slices"
	"strings"
)

// MountTable says which Windows folders Linux sees, and where. Its zero value is
// a system that sees none: plain Linux, or WSL with automount switched off. It is
// immutable and cheap to copy.
type MountTable struct {
	mounts []mount
	// automount is the folder, with a trailing slash, below which every drive
	// counts as mounted under its lower-case letter; "" when the mounts are known.
	automount string
	drives    []drive
}

// mount is one mount point that matters for translation.
type mount struct {
	linux string // mount point, such as "/mnt/c"
	// windows is what is mounted there, with forward slashes and none at the end
	// ("C:", "C:/data", "//server/share"), or "" for a file system of Linux that
	// covers a part of a Windows folder.
	windows string
}

// drive is a drive letter that only Windows knows.
type drive struct {
	letter byte // upper case
	target string
}

// AutomountRoot returns the table of a system of which only the automount root of
// wsl.conf is known: every drive is taken to be mounted at root plus its
// lower-case letter, and no network share is. A missing slash at either end of
// root is added. Below a root that is no Linux path nothing is mounted.
func AutomountRoot(root string) MountTable {
	root = cleanPOSIX("/" + root)
	if !isLinuxPath(root) {
		return MountTable{}
	}
	if root != "/" {
		root += "/"
	}
	return MountTable{automount: root}
}

// WithDrive returns the table with a drive letter that Windows has and Linux may
// not: a SUBST or mapped drive. Paths on a drive that is not mounted are read as
// paths below target, which is an absolute Windows path, often on another drive
// or `\\wsl.localhost\Distro`.
func (m MountTable) WithDrive(letter byte, target string) MountTable {
	m.drives = append(slices.Clip(m.drives), drive{upper(letter), target})
	return m
}

// withoutDrive returns the table without the target of a drive, so that targets
// that name each other come to an end.
func (m MountTable) withoutDrive(letter byte) MountTable {
	m.drives = slices.DeleteFunc(slices.Clone(m.drives), func(d drive) bool { return d.letter == letter })
	return m
}

// driveTarget returns what WithDrive said about a letter in upper case.
func (m *MountTable) driveTarget(letter byte) (string, bool) {
	for _, d := range m.drives {
		if d.letter == letter {
			return d.target, true
		}
	}
	return "", false
}

// appendMountSource appends a location on a drive or share, spelled as
// mount.windows is.
func appendMountSource(dst []byte, loc *location) ([]byte, *Error) {
	if loc.anchor != anchorDrive {
		dst = append(dst, '/')
	}
	return appendWindowsSegments(appendAnchor(dst, loc), loc.rest)
}

// findWindows returns the mount that holds the Windows path p, spelled as
// mount.windows is. Of several the longest wins, then the later. ASCII case is
// ignored.
func (m *MountTable) findWindows(p []byte) (found mount, ok bool) {
	for _, candidate := range m.mounts {
		w := candidate.windows
		if w != "" && len(w) >= len(found.windows) && hasPrefixFold(p, w) && (len(p) == len(w) || p[len(w)] == '/') {
			found, ok = candidate, true
		}
	}
	return found, ok
}

// findLinux returns the mount that holds the clean Linux path p. Case matters. It
// finds nothing when p lies on a file system of Linux.
func (m *MountTable) findLinux(p string) (found mount, ok bool) {
	if m.automount != "" {
		return m.findAutomount(p)
	}
	for _, candidate := range m.mounts {
		if len(candidate.linux) > len(found.linux) && isUnder(p, candidate.linux) {
			found = candidate
		}
	}
	return found, found.windows != ""
}

// findAutomount is findLinux where only the automount root is known.
func (m *MountTable) findAutomount(p string) (mount, bool) {
	rest, ok := strings.CutPrefix(p, m.automount)
	if !ok || rest == "" || rest[0] < 'a' || rest[0] > 'z' || len(rest) > 1 && rest[1] != '/' {
		return mount{}, false
	}
	const drives = "A:B:C:D:E:F:G:H:I:J:K:L:M:N:O:P:Q:R:S:T:U:V:W:X:Y:Z:"
	at := int(rest[0]-'a') * len("A:")
	return mount{linux: p[:len(m.automount)+1], windows: drives[at : at+len("A:")]}, true
}

// isZero reports whether no Windows folder is seen at all.
func (m *MountTable) isZero() bool {
	return len(m.mounts) == 0 && m.automount == "" && len(m.drives) == 0
}

// isUnder reports whether the clean Linux path p is dir or lies in it.
func isUnder(p, dir string) bool {
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/' || dir == "/")
}
