package pathxlate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

// fuzzTranslators are the systems that a fuzzed path is held against: known mounts,
// a known automount root, and plain Linux.
func fuzzTranslators(tb testing.TB) []pathxlate.Translator {
	tb.Helper()
	return []pathxlate.Translator{
		testdata.PathCase{Distro: "Ubuntu", Mounts: "default", Drives: map[byte]string{'W': `\\wsl$\Ubuntu\w`}}.Translator(tb),
		testdata.PathCase{Distro: "Ubuntu", Mounts: "lex:/"}.Translator(tb),
		{},
	}
}

func addFixtures(f *testing.F) {
	f.Helper()
	for _, c := range testdata.PathCases(f) {
		f.Add(c.Input)
	}
}

// checkLinuxPath holds what every result of ToLinux promises.
func checkLinuxPath(t rapid.TB, translator pathxlate.Translator, input, linux string) {
	t.Helper()
	if pathxlate.FormOf(linux) != pathxlate.FormPOSIX || strings.ContainsRune(linux, 0) || len(linux) > 4095 {
		t.Errorf("%q became %q, which is no Linux path", input, linux)
	}
	for segment := range strings.SplitSeq(linux, "/") {
		if form := pathxlate.FormOf(segment); form == pathxlate.FormUNC || form == pathxlate.FormDrive && len(segment) > 2 {
			t.Errorf("%q became %q, which has a Windows path in it", input, linux)
		}
	}
	if again, err := translator.ToLinux(linux); again != linux || err != nil {
		t.Errorf("%q became %q, and that %q, %v", input, linux, again, err)
	}
}

func FuzzToLinux(f *testing.F) {
	addFixtures(f)
	translators := fuzzTranslators(f)
	f.Fuzz(func(t *testing.T, input string) {
		for _, translator := range translators {
			checkToLinux(t, translator, input)
		}
	})
}

func checkToLinux(t rapid.TB, translator pathxlate.Translator, input string) {
	t.Helper()
	linux, err := translator.ToLinux(input)
	if err == nil {
		checkLinuxPath(t, translator, input, linux)
		return
	}
	if pathxlate.ErrName(err) == "" || linux != "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q: %q, %v", input, linux, err)
	}
}

func FuzzToWindows(f *testing.F) {
	addFixtures(f)
	translators := fuzzTranslators(f)
	f.Fuzz(func(t *testing.T, input string) {
		for _, translator := range translators {
			checkToWindows(t, translator, input)
		}
	})
}

func checkToWindows(t rapid.TB, translator pathxlate.Translator, input string) {
	t.Helper()
	windows, err := translator.ToWindows(input)
	if err != nil {
		return
	}
	if !pathxlate.FormOf(windows).IsWindows() || strings.Contains(windows, "/") {
		t.Errorf("%q became %q, which is no Windows path", input, windows)
	}
	if again, err := translator.ToWindows(windows); again != windows || err != nil {
		t.Errorf("%q became %q, and that %q, %v", input, windows, again, err)
	}
}

// keepsNames reports whether every name of a Linux path comes back from Windows as
// it was: below a drive an escaped character stays one, and in the file system of
// WSL a private character is taken for an escaped one.
func keepsNames(linux, windows string) bool {
	if pathxlate.FormOf(windows) == pathxlate.FormWSLUNC {
		return !strings.ContainsFunc(linux, func(r rune) bool { return 0xF000 < r && r < 0xF080 })
	}
	return !strings.ContainsFunc(linux, func(r rune) bool { return r < ' ' || strings.ContainsRune(`"*:<>?\|`, r) })
}

func FuzzRoundTrip(f *testing.F) {
	addFixtures(f)
	translators := fuzzTranslators(f)
	f.Fuzz(func(t *testing.T, input string) {
		for _, translator := range translators {
			checkRoundTrip(t, translator, input)
		}
	})
}

func checkRoundTrip(t rapid.TB, translator pathxlate.Translator, input string) {
	t.Helper()
	linux, err := translator.ToLinux(input)
	if err != nil {
		return
	}
	windows, err := translator.ToWindows(linux)
	if err != nil || !keepsNames(linux, windows) {
		return
	}
	if back, err := translator.ToLinux(windows); back != linux || err != nil && pathxlate.ErrName(err) != "ErrTooLong" {
		t.Errorf("%q became %q, and that %q, %v", linux, windows, back, err)
	}
}

func FuzzURI(f *testing.F) {
	addFixtures(f)
	translators := fuzzTranslators(f)
	f.Fuzz(func(t *testing.T, input string) {
		for _, translator := range translators {
			checkURI(t, translator, input)
		}
	})
}

func checkURI(t rapid.TB, translator pathxlate.Translator, input string) {
	t.Helper()
	base, suffix := input, ""
	if i := strings.IndexAny(input, "?#"); i >= 0 && pathxlate.FormOf(input).IsURI() {
		base, suffix = input[:i], input[i:]
	}
	agree(t, input, base, suffix, translator.ToLinux, translator.URIToLinux)
	agree(t, input, base, suffix, translator.ToWindows, translator.URIToWindows)
}

// agree checks that the URI of an input is the URI of its path, suffix kept.
func agree(t rapid.TB, input, base, suffix string, path, uri func(string) (string, error)) {
	t.Helper()
	wantPath, pathErr := path(base)
	gotURI, uriErr := uri(input)
	if pathxlate.ErrName(pathErr) != pathxlate.ErrName(uriErr) {
		t.Errorf("%q: the path fails with %v, the URI with %v", input, pathErr, uriErr)
	}
	if pathErr != nil || uriErr != nil {
		return
	}
	gotBase, ok := strings.CutSuffix(gotURI, suffix)
	if !ok || pathxlate.FormOf(gotURI) != pathxlate.FormFileURI {
		t.Errorf("%q became %q, which is not its file URI with %q", input, gotURI, suffix)
	}
	wantPath = withoutVerbatimPrefix(wantPath)
	if gotPath, err := path(gotBase); withoutVerbatimPrefix(gotPath) != wantPath || err != nil {
		t.Errorf("%q became %q, whose path is %q, %v; want %q", input, gotURI, gotPath, err, wantPath)
	}
	if again, err := uri(gotURI); again != gotURI || err != nil {
		t.Errorf("%q became %q, and that %q, %v", input, gotURI, again, err)
	}
}

// withoutVerbatimPrefix takes off what no file URI has.
func withoutVerbatimPrefix(windows string) string {
	if share, ok := strings.CutPrefix(windows, `\\?\UNC\`); ok {
		return `\\` + share
	}
	return strings.TrimPrefix(windows, `\\?\`)
}

func FuzzParseMountInfo(f *testing.F) {
	for _, c := range testdata.PathCases(f) {
		if text, ok := c.MountInfo(f); ok {
			f.Add(text, c.Input)
		}
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		translator := pathxlate.Translator{Distro: "Ubuntu", Mounts: pathxlate.ParseMountInfo(text, nil)}
		if linux, err := translator.ToLinux(input); err == nil {
			checkLinuxPath(t, translator, input, linux)
		}
		if windows, err := translator.ToWindows(input); err == nil {
			if again, err := translator.ToWindows(windows); again != windows || err != nil {
				t.Errorf("%q became %q, and that %q, %v", input, windows, again, err)
			}
		}
	})
}

func FuzzParseWSLConf(f *testing.F) {
	f.Add("[automount]\nroot = /\nenabled = true\n")
	f.Add("[automount]\r\nroot=\"/a b\" # moved\r\n[user]\r\nroot=/x")
	f.Fuzz(func(t *testing.T, text string) {
		translator := pathxlate.Translator{Mounts: pathxlate.ParseWSLConf(text)}
		if linux, err := translator.ToLinux(`C:\a`); err == nil {
			checkLinuxPath(t, translator, text, linux)
		}
	})
}
