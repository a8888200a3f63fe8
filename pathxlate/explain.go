package pathxlate

import "strings"

// Rule is how a translation came about.
type Rule string

// The rules.
const (
	RuleNone        Rule = ""                  // it did not
	RuleLinuxPath   Rule = "linux-path"        // a Linux path already
	RuleWindowsPath Rule = "windows-path"      // a Windows path already
	RuleMount       Rule = "mount"             // a mount point of the mount table
	RuleAutomount   Rule = "automount-root"    // the automount root and the drive letter
	RuleDriveTarget Rule = "drive-target"      // the target of a SUBST or mapped drive
	RuleDistro      Rule = "distro-filesystem" // \\wsl.localhost\Distro
)

// Explanation says how a translation came about.
type Explanation struct {
	Op     Op
	Input  string
	Form   Form   // the form Input was recognised as
	Rule   Rule   // the rule applied, RuleNone when Err is set
	Result string // "" when Err is set
	// Caveat says what Windows does not keep of a result, or "" when it keeps all.
	Caveat string
	Err    error // nil or an *Error
}

// Explain does the translation op, one of the Op constants, and says how.
func (t Translator) Explain(op Op, input string) Explanation {
	var translate func(string) (string, Rule, *Error)
	switch op {
	case OpToLinux:
		translate = t.toLinux
	case OpToWindows:
		translate = t.toWindows
	case OpURIToLinux:
		translate = t.uriToLinux
	case OpURIToWindows:
		translate = t.uriToWindows
	default:
		panic("pathxlate: no such translation: " + string(op))
	}
	output, rule, failure := translate(input)
	e := Explanation{Op: op, Input: input, Form: t.formOf(op, input), Rule: rule}
	e.Result, e.Err = t.result(op, input, output, failure)
	if e.Err == nil && rule != RuleLinuxPath {
		e.Caveat = caveat(e.Result)
	}
	return e
}

// caveat looks at the names of a path for what Windows does not keep.
func caveat(p string) string {
	for segment := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		switch {
		case isReservedName(segment):
			return "Windows opens a device under the name " + quote(segment)
		case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " "):
			return "Windows leaves out the last character of " + quote(segment)
		}
	}
	return ""
}

// isReservedName reports whether Win32 takes a name for a device, whatever its
// extension.
func isReservedName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ")
	for _, device := range []string{"CON", "PRN", "AUX", "NUL"} {
		if equalFold(stem, device) {
			return true
		}
	}
	if !hasPrefixFold(stem, "COM") && !hasPrefixFold(stem, "LPT") {
		return false
	}
	number := stem[len("COM"):]
	return len(number) == 1 && '0' <= number[0] && number[0] <= '9' ||
		number == "¹" || number == "²" || number == "³"
}
