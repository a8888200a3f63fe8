package pathxlate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

var sentinels = []error{
	pathxlate.ErrEmpty, pathxlate.ErrRelative, pathxlate.ErrRootRelative, pathxlate.ErrDriveRelative,
	pathxlate.ErrDriveNotMounted, pathxlate.ErrUNCNotMounted, pathxlate.ErrBadUNC, pathxlate.ErrOtherDistro,
	pathxlate.ErrNoDistro, pathxlate.ErrAboveRoot, pathxlate.ErrVolumeGUID, pathxlate.ErrDevicePath,
	pathxlate.ErrADS, pathxlate.ErrInvalidChar, pathxlate.ErrMixedForms, pathxlate.ErrUnsupportedScheme,
	pathxlate.ErrUnsupportedURI, pathxlate.ErrBadEncoding, pathxlate.ErrNUL, pathxlate.ErrTooLong,
}

// TestSentinelNames holds the names that ErrName gives against the source, where
// nothing else ties them to their variables.
func TestSentinelNames(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t(Err\w+) = cause\("(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(declared) != len(sentinels) {
		t.Errorf("errors.go declares %d values, this test knows %d", len(declared), len(sentinels))
	}
	for _, d := range declared {
		if d[1] != d[2] {
			t.Errorf("%s is named %s", d[1], d[2])
		}
	}
}

func TestErrName(t *testing.T) {
	if got := pathxlate.ErrName(nil); got != "" {
		t.Errorf("the name of no error is %q", got)
	}
	if got := pathxlate.ErrName(fs.ErrNotExist); got != "" {
		t.Errorf("the name of another error is %q", got)
	}
	_, err := pathxlate.Translator{}.ToLinux("")
	if got := pathxlate.ErrName(fmt.Errorf("session: %w", err)); got != "ErrEmpty" {
		t.Errorf("the name of a wrapped error is %q, want ErrEmpty", got)
	}
}

// TestErrorMessages holds what people read: the path as they know it, what is wrong
// and what to do, in one line.
func TestErrorMessages(t *testing.T) {
	ubuntu := pathxlate.Translator{Distro: "Ubuntu"}
	plain := pathxlate.Translator{}
	for _, test := range []struct {
		t     pathxlate.Translator
		input string
		form  pathxlate.Form
		want  []string
	}{
		{ubuntu, `C:foo`, pathxlate.FormDriveRelative, []string{`"C:foo"`, `"C:\foo"`}},
		{ubuntu, `E:\a b`, pathxlate.FormDrive, []string{`"E:\a b"`, "sudo mkdir -p /mnt/e && sudo mount -t drvfs E: /mnt/e"}},
		{plain, `E:\a`, pathxlate.FormDrive, []string{"this system is not WSL"}},
		{plain, `//home/me`, pathxlate.FormUNC, []string{"this system is not WSL"}},
		{ubuntu, `\\nas\home\x`, pathxlate.FormUNC, []string{`sudo mount -t drvfs '\\nas\home' /mnt/share`}},
		{ubuntu, `\\nas\a'; reboot #\x`, pathxlate.FormUNC, []string{"with: sudo mount -t drvfs"}},
		{ubuntu, `\\wsl$\Debian\x`, pathxlate.FormWSLUNC, []string{`"Debian"`, `"Ubuntu"`, "--distro"}},
		{ubuntu, `/mnt/c/V/C:\V`, pathxlate.FormPOSIX, []string{`"/mnt/c/V/"`, `"C:\V"`}},
		{ubuntu, `C:\a?b`, pathxlate.FormDrive, []string{`leave out "?"`}},
		{ubuntu, "C:\\a\tb", pathxlate.FormDrive, []string{`leave out "\t"`, `"C:\\a\tb"`}},
		{ubuntu, "C:\\" + strings.Repeat("a", 5000) + "\n", pathxlate.FormDrive, []string{`aaa"...`}},
		{ubuntu, "/ab" + strings.Repeat("日", 2000), pathxlate.FormPOSIX, []string{`4095 bytes`}},
		{ubuntu, "file:///a#b", pathxlate.FormFileURI, []string{"%23"}},
	} {
		_, err := test.t.ToLinux(test.input)
		var failure *pathxlate.Error
		if !errors.As(err, &failure) {
			t.Errorf("%q: the error is %v", test.input, err)
			continue
		}
		if failure.Form != test.form || failure.Op != pathxlate.OpToLinux || failure.Input != test.input {
			t.Errorf("%q: the error has form %v, op %v and input %q", test.input, failure.Form, failure.Op, failure.Input)
		}
		message := err.Error()
		for _, want := range test.want {
			if !strings.Contains(message, want) {
				t.Errorf("%q: %s\nlacks %s", test.input, message, want)
			}
		}
		if strings.ContainsAny(message, "\n\t") || len(message) > 1000 {
			t.Errorf("%q: the message is no short line: %s", test.input, message)
		}
	}
}
