package pathxlate

import "strings"

// Form is the way a path or URI is spelled.
type Form uint8

// The forms. Any separator may be either slash where Windows allows both, and no
// letter's case matters where Windows ignores it.
const (
	FormEmpty         Form = iota
	FormRelative           // a\b, ., ~, NUL, "C:\quoted"
	FormRooted             // \a: relative to the current drive
	FormDrive              // C:\a, C:/a, C:
	FormDriveRelative      // C:a: relative to the current directory of drive C
	FormSlashDrive         // /C:/a: the path part of a file URI, standing alone
	FormUNC                // \\server\share\a
	FormWSLUNC             // \\wsl.localhost\Distro\a, \\wsl$\Distro\a
	FormVerbatimDrive      // \\?\C:\a
	FormVerbatimUNC        // \\?\UNC\server\share\a, WSL hosts too
	FormVolumeGUID         // \\?\Volume{...}\a
	FormDevice             // \\.\a, \\?\GLOBALROOT\a
	FormNT                 // \??\C:\a
	FormPOSIX              // /a
	FormMSYS               // /c/a, only where Translator.MSYS is set
	FormCygwin             // /cygdrive/c/a, only where Translator.MSYS is set
	FormFileURI            // file:///C:/a and its other spellings
	FormRemoteURI          // vscode-remote://wsl+Distro/a, vscode://vscode-remote/wsl+Distro/a
	FormOtherURI           // https://a, untitled:a, zed:///a
)

// String returns the name that `hermes-acp paths` prints.
func (f Form) String() string {
	switch f {
	case FormEmpty:
		return "empty"
	case FormRelative:
		return "relative"
	case FormRooted:
		return "rooted"
	case FormDrive:
		return "drive"
	case FormDriveRelative:
		return "drive-relative"
	case FormSlashDrive:
		return "slash-drive"
	case FormUNC:
		return "unc"
	case FormWSLUNC:
		return "wsl-unc"
	case FormVerbatimDrive:
		return "verbatim-drive"
	case FormVerbatimUNC:
		return "verbatim-unc"
	case FormVolumeGUID:
		return "volume-guid"
	case FormDevice:
		return "device"
	case FormNT:
		return "nt"
	case FormPOSIX:
		return "posix"
	case FormMSYS:
		return "msys"
	case FormCygwin:
		return "cygwin"
	case FormFileURI:
		return "file-uri"
	case FormRemoteURI:
		return "remote-uri"
	case FormOtherURI:
		return "other-uri"
	}
	return "unknown"
}

// IsURI reports whether the form is a URI, one of ours or not.
func (f Form) IsURI() bool {
	return f == FormFileURI || f == FormRemoteURI || f == FormOtherURI
}

// IsWindows reports whether the form is a path that only Windows spells so,
// whether or not it can be translated.
func (f Form) IsWindows() bool {
	switch f {
	case FormRooted, FormDrive, FormDriveRelative, FormSlashDrive, FormUNC, FormWSLUNC,
		FormVerbatimDrive, FormVerbatimUNC, FormVolumeGUID, FormDevice, FormNT:
		return true
	case FormEmpty, FormRelative, FormPOSIX, FormMSYS, FormCygwin,
		FormFileURI, FormRemoteURI, FormOtherURI:
	}
	return false
}

// FormOf names the form of s from its first bytes. It allocates nothing and does
// not say that s can be translated. Two leading separators of either kind are
// UNC, as Windows has it; one leading slash is POSIX, MSYS included.
func FormOf(s string) Form {
	switch {
	case s == "":
		return FormEmpty
	case len(s) > 1 && isSeparator(s[0]) && isSeparator(s[1]):
		return doubleSeparatorForm(s)
	case s[0] == '\\':
		if len(s) > 3 && s[1] == '?' && s[2] == '?' && isSeparator(s[3]) {
			return FormNT
		}
		return FormRooted
	case s[0] == '/':
		if startsWithDrive(s[1:]) {
			return FormSlashDrive
		}
		return FormPOSIX
	case startsWithDrive(s):
		if len(s) == 2 || isSeparator(s[2]) {
			return FormDrive
		}
		return FormDriveRelative
	}
	return schemeForm(s)
}

// doubleSeparatorForm names the form of s, which begins with two separators.
func doubleSeparatorForm(s string) Form {
	host := s[2:segmentEnd(s, 2)]
	switch {
	case host == ".":
		return FormDevice
	case host == "?" && len(s) > len(`\\?\`):
		return verbatimForm(s[len(`\\?\`):])
	case isWSLHost(host):
		return FormWSLUNC
	}
	return FormUNC
}

// verbatimForm names the form of a path by what follows its `\\?\`.
func verbatimForm(s string) Form {
	switch {
	case startsWithDrive(s):
		return FormVerbatimDrive
	case equalFold(s[:segmentEnd(s, 0)], "UNC"):
		return FormVerbatimUNC
	case hasPrefixFold(s, "Volume{"):
		return FormVolumeGUID
	}
	return FormDevice
}

// schemeForm tells URIs from relative paths.
func schemeForm(s string) Form {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || !isScheme(scheme) {
		return FormRelative
	}
	switch {
	case equalFold(scheme, "file"):
		return FormFileURI
	case equalFold(scheme, "vscode-remote") && strings.HasPrefix(rest, "//"),
		equalFold(scheme, "vscode") && strings.HasPrefix(rest, "//vscode-remote/"):
		return FormRemoteURI
	}
	return FormOtherURI
}

// isScheme reports whether s is a URI scheme (RFC 3986, 3.1).
func isScheme(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isWSLHost(host string) bool {
	return equalFold(host, "wsl.localhost") || equalFold(host, "wsl$")
}

func isSeparator(c byte) bool { return c == '/' || c == '\\' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// startsWithDrive reports whether s begins with a letter and a colon.
func startsWithDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && isLetter(s[0])
}

// segmentEnd returns the index of the first separator of s at or after start, or
// len(s).
func segmentEnd(s string, start int) int {
	for i := start; i < len(s); i++ {
		if isSeparator(s[i]) {
			return i
		}
	}
	return len(s)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// equalFold reports whether a and b are equal but for ASCII case, which is all
// that WSL itself folds. Unlike strings.EqualFold it takes no U+212A for a k.
func equalFold[A, B ~string | ~[]byte](a A, b B) bool {
	return len(a) == len(b) && hasPrefixFold(a, b)
}

// hasPrefixFold reports whether s begins with prefix, ASCII case ignored.
func hasPrefixFold[S, P ~string | ~[]byte](s S, prefix P) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}
