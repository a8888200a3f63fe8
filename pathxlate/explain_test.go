package pathxlate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

func TestExplain(t *testing.T) {
	mounted := testdata.PathCase{Distro: "Ubuntu", Mounts: "default", Drives: map[byte]string{'F': `D:\f`}}.Translator(t)
	lexical := pathxlate.Translator{Distro: "Ubuntu", Mounts: pathxlate.AutomountRoot("/mnt/"), MSYS: true}
	for _, test := range []struct {
		t     pathxlate.Translator
		op    pathxlate.Op
		input string
		form  pathxlate.Form
		rule  pathxlate.Rule
		want  string
	}{
		{mounted, pathxlate.OpToLinux, `C:\a`, pathxlate.FormDrive, pathxlate.RuleMount, "/mnt/c/a"},
		{mounted, pathxlate.OpToLinux, `F:\a`, pathxlate.FormDrive, pathxlate.RuleDriveTarget, "/mnt/d/f/a"},
		{mounted, pathxlate.OpToLinux, `\\server\share\a`, pathxlate.FormUNC, pathxlate.RuleMount, "/mnt/share/a"},
		{lexical, pathxlate.OpToLinux, `C:\a`, pathxlate.FormDrive, pathxlate.RuleAutomount, "/mnt/c/a"},
		{lexical, pathxlate.OpToLinux, `/c/a`, pathxlate.FormMSYS, pathxlate.RuleAutomount, "/mnt/c/a"},
		{lexical, pathxlate.OpToLinux, `/cygdrive/c/a`, pathxlate.FormCygwin, pathxlate.RuleAutomount, "/mnt/c/a"},
		{lexical, pathxlate.OpToLinux, `/home/a/`, pathxlate.FormPOSIX, pathxlate.RuleLinuxPath, "/home/a"},
		{lexical, pathxlate.OpToLinux, `\\wsl$\Ubuntu\a`, pathxlate.FormWSLUNC, pathxlate.RuleDistro, "/a"},
		{mounted, pathxlate.OpToWindows, `/mnt/c/a`, pathxlate.FormPOSIX, pathxlate.RuleMount, `C:\a`},
		{lexical, pathxlate.OpToWindows, `/mnt/c/a`, pathxlate.FormPOSIX, pathxlate.RuleAutomount, `C:\a`},
		{lexical, pathxlate.OpToWindows, `/a`, pathxlate.FormPOSIX, pathxlate.RuleDistro, `\\wsl.localhost\Ubuntu\a`},
		{lexical, pathxlate.OpToWindows, `C:/a`, pathxlate.FormDrive, pathxlate.RuleWindowsPath, `C:\a`},
		{lexical, pathxlate.OpURIToLinux, `file:///c%3A/a`, pathxlate.FormFileURI, pathxlate.RuleAutomount, "file:///mnt/c/a"},
		{lexical, pathxlate.OpURIToWindows, `file:///a`, pathxlate.FormFileURI, pathxlate.RuleDistro, "file://wsl.localhost/Ubuntu/a"},
	} {
		want := pathxlate.Explanation{Op: test.op, Input: test.input, Form: test.form, Rule: test.rule, Result: test.want}
		if diff := cmp.Diff(want, test.t.Explain(test.op, test.input)); diff != "" {
			t.Errorf("%s %q: want - got +\n%s", test.op, test.input, diff)
		}
	}

	want := pathxlate.Explanation{
		Op: pathxlate.OpToLinux, Input: `C:a`, Form: pathxlate.FormDriveRelative, Err: pathxlate.ErrDriveRelative,
	}
	if diff := cmp.Diff(want, lexical.Explain(pathxlate.OpToLinux, `C:a`), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestExplainCaveat(t *testing.T) {
	translator := pathxlate.Translator{Distro: "Ubuntu", Mounts: pathxlate.AutomountRoot("/mnt/")}
	for input, want := range map[string]string{
		"/mnt/c/dir/name":   "",
		"/mnt/c/dir./name":  `Windows leaves out the last character of "dir."`,
		"/mnt/c/dir/name ":  `Windows leaves out the last character of "name "`,
		"/mnt/c/dir/NUL":    `Windows opens a device under the name "NUL"`,
		"/mnt/c/aux.c/name": `Windows opens a device under the name "aux.c"`,
		"/mnt/c/Con .txt":   `Windows opens a device under the name "Con .txt"`,
		"/mnt/c/com1":       `Windows opens a device under the name "com1"`,
		"/mnt/c/LPT³.log":   `Windows opens a device under the name "LPT³.log"`,
		"/mnt/c/com":        "",
		"/mnt/c/com10":      "",
		"/mnt/c/console":    "",
		"/mnt/c/.null":      "",
		"/home/a<b":         "",
	} {
		if got := translator.Explain(pathxlate.OpToWindows, input).Caveat; got != want {
			t.Errorf("the caveat of %q is %q, want %q", input, got, want)
		}
	}
}
