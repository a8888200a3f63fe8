package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

// BenchmarkTranslate measures the forms that editors send, with the mount table of
// an ordinary WSL system.
func BenchmarkTranslate(b *testing.B) {
	t := testdata.PathCase{Distro: "Ubuntu", Mounts: "default"}.Translator(b)
	for _, bench := range []struct {
		name      string
		translate func(string) (string, error)
		input     string
	}{
		{"to-linux/drive", t.ToLinux, `C:\Users\me\src\project\main.go`},
		{"to-linux/wsl-unc", t.ToLinux, `\\wsl.localhost\Ubuntu\home\me\src\project\main.go`},
		{"to-linux/verbatim-unc", t.ToLinux, `\\?\UNC\wsl.localhost\Ubuntu\home\me\src\project\main.go`},
		{"to-linux/file-uri", t.ToLinux, `file:///c%3A/Users/me/src/My%20Project/main.go`},
		{"to-linux/unchanged", t.ToLinux, `/home/me/src/project/main.go`},
		{"to-linux/refused", t.ToLinux, `E:\Users\me\src\project\main.go`},
		{"to-windows/drive", t.ToWindows, `/mnt/c/Users/me/src/project/main.go`},
		{"to-windows/wsl-unc", t.ToWindows, `/home/me/src/project/main.go`},
		{"to-windows/unchanged", t.ToWindows, `C:\Users\me\src\project\main.go`},
		{"uri-to-linux/drive", t.URIToLinux, `file:///c%3A/Users/me/src/My%20Project/main.go`},
		{"uri-to-linux/unchanged", t.URIToLinux, `file:///home/me/src/project/main.go`},
		{"uri-to-windows/drive", t.URIToWindows, `file:///mnt/c/Users/me/src/project/main.go`},
		{"uri-to-windows/wsl-unc", t.URIToWindows, `file:///home/me/src/project/main.go`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = bench.translate(bench.input)
			}
		})
	}
}

// BenchmarkOutbound measures what is written to the editor, below its root.
func BenchmarkOutbound(b *testing.B) {
	t := testdata.PathCase{Distro: "Ubuntu", Mounts: "default"}.Translator(b)
	var roots pathxlate.Roots
	roots.Add(`c:\Users\me\src`, "/mnt/c/Users/me/src")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = roots.Outbound(t, "/mnt/c/Users/me/src/project/main.go")
	}
}

// TestAllocations holds the cost of a path to its result, and to its decoding where
// it is a URI with percent signs.
func TestAllocations(t *testing.T) {
	translator := testdata.PathCase{Distro: "Ubuntu", Mounts: "default"}.Translator(t)
	for _, test := range []struct {
		translate func(string) (string, error)
		input     string
		want      float64
	}{
		{translator.ToLinux, `C:\Users\me\main.go`, 1},
		{translator.ToLinux, `\\wsl.localhost\Ubuntu\home\me\main.go`, 1},
		{translator.ToLinux, `file:///c%3A/Users/me/main.go`, 2},
		{translator.ToLinux, `/home/me/main.go`, 0},
		{translator.ToWindows, `/mnt/c/Users/me/main.go`, 1},
		{translator.ToWindows, `/home/me/main.go`, 1},
		{translator.ToWindows, `C:\Users\me\main.go`, 0},
		{translator.URIToLinux, `file:///c%3A/Users/me/main.go`, 2},
		{translator.URIToLinux, `file:///home/me/main.go`, 0},
		{translator.URIToWindows, `file:///home/me/main.go`, 1},
	} {
		got := testing.AllocsPerRun(100, func() { _, _ = test.translate(test.input) })
		if got > test.want {
			t.Errorf("%q takes %v allocations, want %v", test.input, got, test.want)
		}
	}
}
