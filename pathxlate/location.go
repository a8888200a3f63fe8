package pathxlate

import (
	"strings"
	"unicode/utf8"
)

// anchor is what a location is absolute from.
type anchor uint8

const (
	anchorLinux  anchor = iota // the root of this Linux
	anchorDrive                // a drive letter
	anchorShare                // \\server\share
	anchorDistro               // \\wsl.localhost\Distro
)

// location is a path or URI taken apart, in whatever form it came.
type location struct {
	form   Form
	anchor anchor
	drive  byte   // of anchorDrive: its letter as given
	host   string // of anchorShare and anchorDistro
	share  string // of anchorShare and anchorDistro, where it is the distro
	rest   string // what follows the anchor, decoded; clean only where it is a path of Linux
}

// parse takes an absolute path or URI apart, or says why there is none.
func parse(input string, msys bool) (location, *Error) {
	form := FormOf(input)
	switch {
	case strings.IndexByte(input, 0) >= 0:
		return location{}, fail(ErrNUL)
	case !utf8.ValidString(input):
		return location{}, fail(ErrBadEncoding)
	case form == FormFileURI:
		return parseFileURI(input)
	case form == FormRemoteURI:
		return parseRemoteURI(input)
	case form == FormPOSIX && msys:
		if loc, ok := msysLocation(input); ok {
			return loc, nil
		}
	}
	return parsePath(form, input)
}

// parsePath takes an absolute path of a form apart. URIs are none.
func parsePath(form Form, p string) (location, *Error) {
	switch form {
	case FormPOSIX:
		clean, err := linuxPath(p)
		return location{form: form, rest: clean}, err
	case FormDrive, FormDriveRelative:
		return driveLocation(form, p, 0)
	case FormSlashDrive:
		return driveLocation(form, p, len("/"))
	case FormVerbatimDrive:
		return driveLocation(form, p, len(`\\?\`))
	case FormUNC, FormWSLUNC:
		return shareLocation(form, p, len(`\\`))
	case FormVerbatimUNC:
		return shareLocation(form, p, min(len(`\\?\UNC\`), len(p)))
	case FormEmpty:
		return location{}, fail(ErrEmpty)
	case FormRooted:
		return location{}, fail(ErrRootRelative)
	case FormVolumeGUID:
		return location{}, fail(ErrVolumeGUID)
	case FormDevice, FormNT:
		return location{}, fail(ErrDevicePath)
	case FormFileURI, FormRemoteURI, FormOtherURI:
		if _, rest, _ := strings.Cut(p, ":"); strings.HasPrefix(rest, `\`) {
			return location{}, fail(ErrUnsupportedScheme)
		}
		return location{}, fail(ErrUnsupportedURI)
	case FormRelative, FormMSYS, FormCygwin:
	}
	return location{}, fail(ErrRelative)
}

// driveLocation takes apart a path whose drive letter stands at index at.
func driveLocation(form Form, input string, at int) (location, *Error) {
	loc := location{form: form, anchor: anchorDrive, drive: input[at], rest: input[at+2:]}
	if loc.rest != "" && !isSeparator(loc.rest[0]) {
		return loc, failWith(ErrDriveRelative, "write a backslash after the colon: "+quote(input[at:at+2]+`\`+loc.rest))
	}
	return loc, nil
}

// shareLocation takes apart a path whose host name starts at index at.
func shareLocation(form Form, input string, at int) (location, *Error) {
	hostEnd := segmentEnd(input, at)
	shareStart := hostEnd
	for shareStart < len(input) && isSeparator(input[shareStart]) {
		shareStart++
	}
	shareEnd := segmentEnd(input, shareStart)
	loc := location{
		form:   form,
		anchor: anchorShare,
		host:   input[at:hostEnd],
		share:  input[shareStart:shareEnd],
		rest:   input[shareEnd:],
	}
	if !isShareName(loc.host) || !isShareName(loc.share) {
		return loc, fail(ErrBadUNC)
	}
	if isWSLHost(loc.host) {
		loc.anchor = anchorDistro
	}
	return loc, nil
}

// isShareName reports whether s can be the host or the share of a UNC path.
func isShareName(s string) bool {
	return s != "" && s != "." && s != ".." && checkWindowsName(s) == nil
}

// msysLocation takes apart a path of MSYS (Git Bash) or Cygwin: /c/a,
// /cygdrive/c/a.
func msysLocation(p string) (location, bool) {
	loc := location{form: FormMSYS, anchor: anchorDrive}
	drive, ok := strings.CutPrefix(p, "/cygdrive/")
	if ok {
		loc.form = FormCygwin
	} else {
		drive = p[len("/"):]
	}
	if drive == "" || !isLetter(drive[0]) || len(drive) > 1 && drive[1] != '/' {
		return location{}, false
	}
	loc.drive, loc.rest = drive[0], drive[1:]
	return loc, true
}

// linuxPath returns an absolute path of Linux clean. It refuses one that would not
// be taken for one again.
func linuxPath(p string) (string, *Error) {
	if err := checkMixed(p); err != nil {
		return "", err
	}
	clean := cleanPOSIX(p)
	if FormOf(clean) != FormPOSIX {
		return "", ambiguous(clean)
	}
	return clean, nil
}

// ambiguous refuses a path of Linux, such as /C:/a, that has the form of another.
func ambiguous(linux string) *Error {
	return failWith(ErrMixedForms, "the Linux name "+quote(linux)+" cannot be told from a Windows path: rename it")
}

// checkMixed refuses a POSIX path that goes on into a Windows path, as a program
// makes that takes one for relative and joins it to its own directory.
func checkMixed(p string) *Error {
	for from := 0; ; {
		slash := strings.IndexByte(p[from:], '\\')
		if slash < 0 {
			return nil
		}
		slash += from
		start := strings.LastIndexByte(p[:slash], '/') + 1
		if segment := p[start:]; slash == start && strings.HasPrefix(segment, `\\`) || slash == start+2 && startsWithDrive(segment) {
			return failWith(ErrMixedForms, "give either "+quote(p[:start])+" or "+quote(segment))
		}
		from = slash + 1
	}
}

// isLinuxPath reports whether p is taken for an absolute path of Linux and nothing
// else.
func isLinuxPath(p string) bool {
	loc, err := parse(p, false)
	return err == nil && loc.form == FormPOSIX
}

// DistroOf returns the distro that p names, as p spells it: the one of
// `\\wsl.localhost\Distro`, `\\wsl$\Distro`, their verbatim and file URI
// spellings, and of vscode-remote URIs.
func DistroOf(p string) (string, bool) {
	loc, err := parse(p, false)
	if err != nil || loc.anchor != anchorDistro {
		return "", false
	}
	return loc.share, true
}
