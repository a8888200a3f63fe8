package pathxlate

// Translator translates between one Linux system and the Windows that it runs in.
// It holds no state beyond its fields and is cheap to copy. The zero value is a
// Linux system without Windows: Linux paths pass, everything else is refused.
//
// Unexported methods have pointer receivers only to spare copies on the way; none
// changes the translator.
type Translator struct {
	// Distro is the name of the WSL distro, "" when there is none or it is not
	// known. It is compared without ASCII case and written as it stands here.
	Distro string
	// Mounts says which Windows folders Linux sees.
	Mounts MountTable
	// MSYS makes ToLinux and URIToLinux read /c/a and /cygdrive/c/a, as Git Bash
	// and Cygwin write them, as paths on a drive. Otherwise they are the POSIX
	// paths that they look like.
	MSYS bool
}

// Op is one of the translations.
type Op string

// The translations, named as on the command line.
const (
	OpToLinux      Op = "to-linux"
	OpToWindows    Op = "to-windows"
	OpURIToLinux   Op = "uri-to-linux"
	OpURIToWindows Op = "uri-to-windows"
)

// maxLinuxPath is the length in bytes of the longest path that Linux opens:
// PATH_MAX without the final NUL.
const maxLinuxPath = 4095

// ToLinux returns the clean absolute Linux path of a path in any form, or of a
// file: or vscode-remote: URI without query and fragment. A POSIX path comes back
// clean. The error is an *Error.
func (t Translator) ToLinux(p string) (string, error) {
	linux, _, err := t.toLinux(p)
	return t.result(OpToLinux, p, linux, err)
}

// ToWindows returns the Windows path of an absolute Linux path: on its drive or
// share when it lies on a mounted one, or below \\wsl.localhost\Distro. Bytes that
// no Windows name can hold become U+F000 plus the byte, as in WSL itself. A path
// that is in a Windows form already keeps it, cleaned and with backslashes. File:
// and vscode-remote: URIs are read as ToLinux reads them. The error is an *Error.
func (t Translator) ToWindows(p string) (string, error) {
	windows, _, err := t.toWindows(p)
	return t.result(OpToWindows, p, windows, err)
}

// URIToLinux returns the URI file:///path of what ToLinux makes of uri, which may
// also be a path. ?query#fragment is kept byte for byte, and so is a file URI that
// names a Linux path already. The error is an *Error.
func (t Translator) URIToLinux(uri string) (string, error) {
	linux, _, err := t.uriToLinux(uri)
	return t.result(OpURIToLinux, uri, linux, err)
}

// URIToWindows returns the URI file:///C:/path or file://host/share/path of what
// ToWindows makes of uri, which may also be a path. ?query#fragment is kept byte
// for byte, and so is a file URI that names a Windows path already. The error is
// an *Error.
func (t Translator) URIToWindows(uri string) (string, error) {
	windows, _, err := t.uriToWindows(uri)
	return t.result(OpURIToWindows, uri, windows, err)
}

// result makes of an internal outcome what the methods return.
func (t *Translator) result(op Op, input, output string, err *Error) (string, error) {
	if err != nil {
		err.Op, err.Input, err.Form = op, input, t.formOf(op, input)
		return "", err
	}
	return output, nil
}

// formOf is FormOf, with the forms that are read only where MSYS is set.
func (t *Translator) formOf(op Op, input string) Form {
	form := FormOf(input)
	if form == FormPOSIX && t.MSYS && (op == OpToLinux || op == OpURIToLinux) {
		if loc, ok := msysLocation(input); ok {
			return loc.form
		}
	}
	return form
}
