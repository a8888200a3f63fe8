package pathxlate

import (
	"slices"
	"strings"
)

// ParseMountInfo reads the text of /proc/self/mountinfo as WSL itself does: drvfs
// over 9p, drvfs over virtiofs, and the drvfs of WSL 1, bind mounts of each, a
// later mount hiding those at and below its mount point. Lines that it cannot
// read are skipped.
//
// virtiofs gives the Windows path of each virtiofs tag: the link
// /run/wsl/virtiofs/TAG points to it. It may be nil.
func ParseMountInfo(text string, virtiofs map[string]string) MountTable {
	var mounts []mount
	for line := range strings.Lines(text) {
		entry, ok := parseMountInfoLine(strings.TrimRight(line, "\r\n"))
		if !ok || isUnder(entry.mountPoint, "/run/wsl/virtiofs-mounts") {
			continue
		}
		added := mount{linux: entry.mountPoint, windows: entry.windowsPath(virtiofs)}
		if added.linux != "/" { // "/" may stand behind what it holds
			mounts = slices.DeleteFunc(mounts, func(m mount) bool { return isUnder(m.linux, added.linux) })
		}
		mounts = append(mounts, added)
	}
	var table MountTable
	for _, m := range mounts {
		coversWindows := func(outer mount) bool { return outer.windows != "" && isUnder(m.linux, outer.linux) }
		if m.windows != "" || slices.ContainsFunc(mounts, coversWindows) {
			table.mounts = append(table.mounts, m)
		}
	}
	return table
}

// mountInfoEntry is one line of mountinfo (proc_pid_mountinfo(5)), unescaped.
type mountInfoEntry struct {
	root         string // of the mount within its file system: "/", or what a bind mount binds
	mountPoint   string
	fsType       string
	source       string
	superOptions string
}

func parseMountInfoLine(line string) (mountInfoEntry, bool) {
	mountFields, fsFields, ok := strings.Cut(line, " - ")
	if !ok {
		return mountInfoEntry{}, false
	}
	left := strings.Split(mountFields, " ")
	right := strings.SplitN(fsFields, " ", 3)
	if len(left) < 6 || len(right) < 3 {
		return mountInfoEntry{}, false
	}
	entry := mountInfoEntry{
		root:         unescapeOctal(left[3]),
		mountPoint:   unescapeOctal(left[4]),
		fsType:       right[0],
		source:       unescapeOctal(right[1]),
		superOptions: right[2],
	}
	return entry, isLinuxPath(entry.mountPoint) && isCleanPOSIX(entry.mountPoint)
}

// windowsPath returns what the entry mounts, as mount.windows has it, or "" when
// that is nothing of Windows.
func (e mountInfoEntry) windowsPath(virtiofs map[string]string) string {
	source, root := "", e.root
	switch e.fsType {
	case "9p":
		source = drvfsOption(e.superOptions)
	case "drvfs":
		source = e.source
	case "virtiofs":
		tag := e.source
		if equalFold(tag, "drvfs") || equalFold(tag, "drvfsa") { // one file system for all drives
			tag, root, _ = strings.Cut(strings.TrimPrefix(root, "/"), "/")
			root = "/" + root
		}
		source = virtiofs[tag]
	}
	if source == "" {
		return ""
	}
	if root != "/" {
		source += root
	}
	loc, err := parse(source, false)
	if err != nil || loc.form.IsURI() || loc.anchor != anchorDrive && loc.anchor != anchorShare {
		return ""
	}
	loc.drive = upper(loc.drive)
	windows, err := appendMountSource(nil, &loc)
	if err != nil {
		return ""
	}
	return string(windows)
}

// drvfsOption takes the Windows path out of the super options of a 9p mount:
// `aname=drvfs;path=C:\;uid=1000`, where a share is `path=UNC\server\share`.
// Other 9p mounts, such as the GPU drivers, have another aname.
func drvfsOption(superOptions string) string {
	for option := range strings.SplitSeq(superOptions, ",") {
		if !strings.HasPrefix(option, "aname=drvfs") {
			continue
		}
		_, path, ok := strings.Cut(option, "path=")
		if !ok {
			continue
		}
		path, _, _ = strings.Cut(path, ";")
		if share, ok := strings.CutPrefix(path, `UNC\`); ok {
			return `\\` + share
		}
		return path
	}
	return ""
}

// unescapeOctal turns each \ooo of a mountinfo field back into its byte.
func unescapeOctal(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	plain := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) && isOctal(field[i+1]) && isOctal(field[i+2]) && isOctal(field[i+3]) {
			plain = append(plain, (field[i+1]-'0')<<6|(field[i+2]-'0')<<3|(field[i+3]-'0'))
			i += 3
			continue
		}
		plain = append(plain, field[i])
	}
	return string(plain)
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }
