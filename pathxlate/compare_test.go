package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

func TestW53_SameDir(t *testing.T) {
	wsl := testdata.PathCase{Distro: "Ubuntu", Mounts: "default"}.Translator(t)
	for _, test := range []struct {
		t    pathxlate.Translator
		a, b string
		want bool
	}{
		{wsl, "/mnt/c/Users/Me/V", "/mnt/c/users/me/v", true},
		{wsl, `C:\Users\Me`, "/mnt/c/users/ME/", true},
		{wsl, `\\?\c:\users\me`, "file:///C%3A/Users/Me", true},
		{wsl, `\\wsl$\Ubuntu\home\me`, "/home/me", true},
		{wsl, "/home/Me", "/home/me", false},
		{wsl, "/mnt/C/a", "/mnt/c/a", false},
		{wsl, "/mnt/c/a", "/mnt/d/a", false},
		{wsl, "rel", "rel", true},
		{wsl, "rel", "Rel", false},
		{wsl, "rel", "/rel", false},
		{pathxlate.Translator{}, "/mnt/c/A", "/mnt/c/a", false},
		{pathxlate.Translator{}, "/mnt/c/a/", "/mnt/c/a", true},
	} {
		if got := test.t.SameDir(test.a, test.b); got != test.want {
			t.Errorf("SameDir(%q, %q) is %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
