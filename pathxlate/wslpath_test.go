package pathxlate_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// FuzzWslpath holds ToLinux against the wslpath of the WSL system that the test
// runs in; elsewhere it is skipped. Where this package refuses, wslpath may do as it
// likes; docs/paths.md lists the other differences.
func FuzzWslpath(f *testing.F) {
	distro := os.Getenv("WSL_DISTRO_NAME")
	wslpath, err := exec.LookPath("wslpath")
	if distro == "" || err != nil {
		f.Skip("needs a WSL distro with wslpath")
	}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		f.Skip(err)
	}
	translator := pathxlate.Translator{Distro: distro, Mounts: pathxlate.ParseMountInfo(string(info), nil)}
	addFixtures(f)
	f.Add(`\\wsl.localhost\` + distro + `\home\me`)
	f.Add(`\\wsl$\` + distro + `\tmp\a` + "\uf03a" + `b`)
	f.Fuzz(func(t *testing.T, input string) {
		ours, err := translator.ToLinux(input)
		if err != nil || !wslpathAgrees(input) {
			return
		}
		output, err := exec.CommandContext(t.Context(), wslpath, "-u", "--", input).Output()
		theirs := strings.TrimSuffix(string(output), "\n")
		if len(theirs) > 1 {
			theirs = strings.TrimRight(theirs, "/")
		}
		if err != nil || ours != theirs {
			t.Errorf("%q: we say %q, wslpath says %q, %v", input, ours, theirs, err)
		}
	})
}

// wslpathAgrees reports whether an input is none of those that wslpath refuses or
// damages.
func wslpathAgrees(input string) bool {
	switch form := pathxlate.FormOf(input); {
	case input == "" || strings.HasSuffix(input, ":"): // a bare drive
		return false
	case form == pathxlate.FormWSLUNC:
		return !strings.Contains(input, "\xef") // it takes U+FF1A for an escaped character
	default:
		return form == pathxlate.FormDrive || form == pathxlate.FormVerbatimDrive || form == pathxlate.FormUNC
	}
}
