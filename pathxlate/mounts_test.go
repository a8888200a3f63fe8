package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// TestVirtiofs reads the mounts of a WSL that shares drives over virtiofs: a file
// system for each drive, or one for all of them.
func TestVirtiofs(t *testing.T) {
	links := map[string]string{
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8":   `C:\`,
		"{6ba7b811-9dad-11d1-80b4-00c04fd430c8}": `D:\`,
		"6ba7b812-9dad-11d1-80b4-00c04fd430c8":   `\\server\share`,
	}
	const info = `86 80 8:32 / / rw - ext4 /dev/sdc rw
90 86 0:60 / /mnt/c rw - virtiofs 6ba7b810-9dad-11d1-80b4-00c04fd430c8 rw
91 86 0:61 /{6ba7b811-9dad-11d1-80b4-00c04fd430c8} /mnt/d rw - virtiofs drvfsa rw
92 86 0:61 /{6ba7b811-9dad-11d1-80b4-00c04fd430c8}/sub/dir /srv/dir rw - virtiofs drvfs rw
93 86 0:62 /x /mnt/share rw - virtiofs 6ba7b812-9dad-11d1-80b4-00c04fd430c8 rw
94 86 0:63 / /mnt/e rw - virtiofs 6ba7b813-9dad-11d1-80b4-00c04fd430c8 rw
95 86 0:60 / /run/wsl/virtiofs-mounts/6ba7b810 rw - virtiofs 6ba7b810-9dad-11d1-80b4-00c04fd430c8 rw
`
	translator := pathxlate.Translator{Distro: "Ubuntu", Mounts: pathxlate.ParseMountInfo(info, links)}
	for linux, windows := range map[string]string{
		"/mnt/c/a":     `C:\a`,
		"/mnt/d/a":     `D:\a`,
		"/srv/dir/a":   `D:\sub\dir\a`,
		"/mnt/share/a": `\\server\share\x\a`,
	} {
		if got, err := translator.ToWindows(linux); got != windows || err != nil {
			t.Errorf("ToWindows(%q) is %q, %v; want %q", linux, got, err, windows)
		}
		if got, err := translator.ToLinux(windows); got != linux || err != nil {
			t.Errorf("ToLinux(%q) is %q, %v; want %q", windows, got, err, linux)
		}
	}
	if got, err := translator.ToLinux(`E:\a`); pathxlate.ErrName(err) != "ErrDriveNotMounted" {
		t.Errorf("a tag without a link translates to %q, %v", got, err)
	}
}

func TestParseWSLConf(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // of C:\a, "" for ErrDriveNotMounted
	}{
		{"empty", "", "/mnt/c/a"},
		{"other sections", "[user]\nroot=/x\nenabled=false\n[boot]\nsystemd=true\n", "/mnt/c/a"},
		{"section again", "[automount]\nmountFsTab=true\n[network]\nroot=/no\n[automount]\nroot=/yes\n", "/yes/c/a"},
		{"case of names", "[AutoMount]\nRoot=/w/\nENABLED=TRUE\n", "/w/c/a"},
		{"comments", "# root=/no\n[automount] # yes\n#root=/no\n  root=/w # no\n", "/w/c/a"},
		{"carriage returns", "[automount]\r\nroot=/w\r\nenabled=true\r\n", "/w/c/a"},
		{"empty root", "[automount]\nroot=\n", "/c/a"},
		{"off", "[automount]\nroot=/w\nenabled = False\n", ""},
		{"off by number", "[automount]\nenabled=0\n", ""},
		{"no values", "[automount]\nroot\nenabled\n[", "/mnt/c/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			translator := pathxlate.Translator{Distro: "Ubuntu", Mounts: pathxlate.ParseWSLConf(test.text)}
			got, err := translator.ToLinux(`C:\a`)
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// TestWithDriveLeavesItsTable checks that a table that was handed out stays as it is.
func TestWithDriveLeavesItsTable(t *testing.T) {
	mounts := pathxlate.ParseMountInfo("90 86 0:60 / /mnt/c rw - drvfs C: rw\n", nil)
	first := pathxlate.Translator{Mounts: mounts.WithDrive('f', `C:\first`)}
	second := pathxlate.Translator{Mounts: first.Mounts.WithDrive('G', `C:\second`)}
	third := pathxlate.Translator{Mounts: first.Mounts.WithDrive('G', `C:\third`)}
	for _, test := range []struct {
		t           pathxlate.Translator
		input, want string
	}{
		{pathxlate.Translator{Mounts: mounts}, `F:\a`, ""},
		{first, `F:\a`, "/mnt/c/first/a"},
		{first, `G:\a`, ""},
		{second, `G:\a`, "/mnt/c/second/a"},
		{third, `G:\a`, "/mnt/c/third/a"},
	} {
		if got, _ := test.t.ToLinux(test.input); got != test.want {
			t.Errorf("ToLinux(%q) is %q, want %q", test.input, got, test.want)
		}
	}
}
