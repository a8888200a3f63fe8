package pathxlate

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Why a path cannot be translated. [Error] wraps one of these.
var (
	ErrEmpty = cause("ErrEmpty", "the path is empty",
		"give an absolute path")
	ErrRelative = cause("ErrRelative", "the path is relative",
		"give an absolute path, such as C:\\work or /home/me/work")
	ErrRootRelative = cause("ErrRootRelative", "the path names no drive",
		"put the drive in front, such as C:\\work, or write a Linux path with forward slashes")
	ErrDriveRelative = cause("ErrDriveRelative", "the path is relative to the current directory of a drive",
		"write a backslash after the colon, such as C:\\work")
	ErrDriveNotMounted = cause("ErrDriveNotMounted", "the drive is not mounted inside WSL",
		"mount it there")
	ErrUNCNotMounted = cause("ErrUNCNotMounted", "the network share is not mounted inside WSL",
		"mount it there")
	ErrBadUNC = cause("ErrBadUNC", "the network path is incomplete or malformed",
		"write \\\\server\\share\\path or \\\\wsl.localhost\\Distro\\path")
	ErrOtherDistro = cause("ErrOtherDistro", "the path belongs to another distro",
		"start the agent in that distro")
	ErrNoDistro = cause("ErrNoDistro", "the name of the WSL distro is not known",
		"name it with --distro, or set WSL_DISTRO_NAME")
	ErrAboveRoot = cause("ErrAboveRoot", "a \"..\" climbs above the drive or share",
		"give the path without it")
	ErrVolumeGUID = cause("ErrVolumeGUID", "the volume is named by its GUID",
		"give the path by its drive letter")
	ErrDevicePath = cause("ErrDevicePath", "the path names a device",
		"give the path by its drive letter or share")
	ErrADS = cause("ErrADS", "the path has a colon after the drive (an NTFS stream), which WSL cannot open",
		"give the path of the file itself")
	ErrInvalidChar = cause("ErrInvalidChar", "the path has a character that Windows allows in no name",
		"leave out < > \" | ? * and control characters")
	ErrMixedForms = cause("ErrMixedForms", "a Linux path and a Windows path are joined in one",
		"give only one of them")
	ErrUnsupportedScheme = cause("ErrUnsupportedScheme", "what stands before the colon is neither a drive nor a URI scheme in use here",
		"a drive is one letter, such as C:\\work")
	ErrUnsupportedURI = cause("ErrUnsupportedURI", "the URI names no file of this machine",
		"give a file: URI or a path")
	ErrBadEncoding = cause("ErrBadEncoding", "the text is not UTF-8, or its percent encoding cannot stand for a path",
		"send UTF-8 and encode each name once")
	ErrNUL = cause("ErrNUL", "the path has a NUL character",
		"leave it out")
	ErrTooLong = cause("ErrTooLong", "the path is longer than the 4095 bytes that Linux opens",
		"use a shorter path")
)

// Error says which path could not be translated, and why.
type Error struct {
	Op     Op     // what was asked for
	Input  string // the path or URI as given
	Form   Form   // the form Input was recognised as
	Remedy string // what a person can do, in a few words
	Err    error  // one of the Err values of this package
}

// Error gives the operation, the input, the reason and the remedy in one line.
func (e *Error) Error() string {
	return string(e.Op) + " " + quote(e.Input) + ": " + e.Err.Error() + ": " + e.Remedy
}

// fail returns an Error with the remedy that goes with the cause.
func fail(err error) *Error {
	remedy := ""
	if c, ok := errors.AsType[*causeError](err); ok {
		remedy = c.remedy
	}
	return &Error{Err: err, Remedy: remedy}
}

// failWith returns an Error with a remedy that knows the path.
func failWith(err error, remedy string) *Error {
	return &Error{Err: err, Remedy: remedy}
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrName returns the name of the Err value that err wraps, such as
// "ErrDriveRelative", or "" when err is none of this package.
func ErrName(err error) string {
	if c, ok := errors.AsType[*causeError](err); ok {
		return c.name
	}
	return ""
}

// causeError is the one type behind the Err values.
type causeError struct {
	name   string
	reason string
	remedy string
}

func cause(name, reason, remedy string) error {
	return &causeError{name: name, reason: reason, remedy: remedy}
}

func (c *causeError) Error() string { return c.reason }

// maxQuoted bounds the bytes of a path that a message repeats.
const maxQuoted = 256

// quote puts s in double quotes for one line of a message. Backslashes stay
// single, since people have to recognise their path; only what does not print is
// escaped.
func quote(s string) string {
	ellipsis := ""
	if len(s) > maxQuoted {
		end := maxQuoted
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s, ellipsis = s[:end], "..."
	}
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(s) + ellipsis
		}
	}
	return `"` + s + `"` + ellipsis
}
