package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

func TestFormOf(t *testing.T) {
	for _, test := range []struct {
		input string
		want  pathxlate.Form
	}{
		{``, pathxlate.FormEmpty},
		{`a\b`, pathxlate.FormRelative},
		{`.`, pathxlate.FormRelative},
		{`1:\a`, pathxlate.FormRelative},
		{`a_b:c`, pathxlate.FormRelative},
		{`\a`, pathxlate.FormRooted},
		{`\`, pathxlate.FormRooted},
		{`\?\a`, pathxlate.FormRooted},
		{`C:`, pathxlate.FormDrive},
		{`c:/a`, pathxlate.FormDrive},
		{`C:\a`, pathxlate.FormDrive},
		{`C:a`, pathxlate.FormDriveRelative},
		{`/C:`, pathxlate.FormSlashDrive},
		{`/c:/a`, pathxlate.FormSlashDrive},
		{`\\`, pathxlate.FormUNC},
		{`\\?`, pathxlate.FormUNC},
		{`\\?\`, pathxlate.FormUNC},
		{`\\server\share`, pathxlate.FormUNC},
		{`/\server/share`, pathxlate.FormUNC},
		{`\\wsl.localhostX\a`, pathxlate.FormUNC},
		{`\\wsl.localhost`, pathxlate.FormWSLUNC},
		{`//WSL$/a`, pathxlate.FormWSLUNC},
		{`\\?\C:`, pathxlate.FormVerbatimDrive},
		{`//?/c:/a`, pathxlate.FormVerbatimDrive},
		{`\\?\UNC`, pathxlate.FormVerbatimUNC},
		{`\\?\unc\server\share`, pathxlate.FormVerbatimUNC},
		{`\\?\UNCX\a`, pathxlate.FormDevice},
		{`\\?\volume{1}\a`, pathxlate.FormVolumeGUID},
		{`\\.`, pathxlate.FormDevice},
		{`//./a`, pathxlate.FormDevice},
		{`\??\C:\a`, pathxlate.FormNT},
		{`/`, pathxlate.FormPOSIX},
		{`/c/a`, pathxlate.FormPOSIX},
		{`/a\b`, pathxlate.FormPOSIX},
		{`file:`, pathxlate.FormFileURI},
		{`FILE:///a`, pathxlate.FormFileURI},
		{`vscode-remote://ssh-remote+a/b`, pathxlate.FormRemoteURI},
		{`vscode://vscode-remote/wsl+a/b`, pathxlate.FormRemoteURI},
		{`vscode-remote:a`, pathxlate.FormOtherURI},
		{`vscode://file/c:/a`, pathxlate.FormOtherURI},
		{`https://a`, pathxlate.FormOtherURI},
		{`CC:\a`, pathxlate.FormOtherURI},
	} {
		if got := pathxlate.FormOf(test.input); got != test.want {
			t.Errorf("FormOf(%q) is %v, want %v", test.input, got, test.want)
		}
	}
}

// TestFormNames keeps the predicates and the names of the forms complete.
func TestFormNames(t *testing.T) {
	seen := make(map[string]pathxlate.Form)
	for form := pathxlate.FormEmpty; form <= pathxlate.FormOtherURI; form++ {
		name := form.String()
		if other, ok := seen[name]; ok || name == "unknown" {
			t.Errorf("forms %d and %d are both named %q", other, form, name)
		}
		seen[name] = form
		if form.IsURI() && form.IsWindows() {
			t.Errorf("%v is a URI and a Windows path", form)
		}
	}
}

// TestFixturesCover asks for each form in both directions, for each error, and for
// the number of rows that the project promises.
func TestFixturesCover(t *testing.T) {
	type formIn struct {
		form pathxlate.Form
		op   string
	}
	forms := make(map[formIn]bool)
	errs := make(map[string]bool)
	cases := testdata.PathCases(t)
	ids := make(map[string]bool)
	for _, c := range cases {
		if ids[c.ID] {
			t.Errorf("two rows are named %s", c.ID)
		}
		ids[c.ID] = true
		errs[c.Err] = true
		translator := c.Translator(t)
		forms[formIn{translator.Explain(pathxlate.OpToLinux, c.Input).Form, c.Op}] = true
	}
	if len(cases) < 300 {
		t.Errorf("%d rows, want at least 300", len(cases))
	}
	for form := pathxlate.FormEmpty; form <= pathxlate.FormOtherURI; form++ {
		for _, op := range []string{"to-linux", "to-windows"} {
			if !forms[formIn{form, op}] {
				t.Errorf("no row has a path of form %v %s", form, op)
			}
		}
	}
	for _, err := range sentinels {
		if name := pathxlate.ErrName(err); !errs[name] {
			t.Errorf("no row fails with %s", name)
		}
	}
}
