package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// TestRootsCopies checks that a copy that is added to leaves the original alone.
func TestRootsCopies(t *testing.T) {
	translator := pathxlate.Translator{Mounts: pathxlate.AutomountRoot("/mnt/")}
	var first pathxlate.Roots
	first.Add(`C:\p`, "/mnt/c/p")
	second, third := first, first
	second.Add(`c:\p`, "/mnt/c/p")
	third.Add(`C:/p/`, "/mnt/c/p")
	for _, test := range []struct {
		roots pathxlate.Roots
		want  string
	}{{first, `C:\p\a`}, {second, `c:\p\a`}, {third, `C:/p/a`}} {
		if got, err := test.roots.Outbound(translator, "/mnt/c/p/a"); got != test.want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, test.want)
		}
	}
}
