package pathxlate_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

// spelling is a path of the client, made together with what it means.
type spelling struct {
	text  string // as the client writes it
	linux string // its Linux path
	mount string // the Windows mount point that holds it, "" for none
}

// spellings makes clients' paths of every form that names a folder, by the grammar
// of the form: a root, names, and what changes nothing in between.
func spellings() *rapid.Generator[spelling] {
	name := rapid.Custom(func(t *rapid.T) string {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("aZ09 .-_~$&'()+,;=@[]{}^!%äßдй日本😀")), 1, 12, -1).Draw(t, "name")
		if strings.Trim(name, ".") == "" {
			name += "x"
		}
		return name
	})
	roots := []struct{ text, linux string }{
		{`C:`, "/mnt/c"},
		{`d:`, "/mnt/d"},
		{`/c:`, "/mnt/c"},
		{`\\?\C:`, "/mnt/c"},
		{`//?/d:`, "/mnt/d"},
		{`\\wsl.localhost\Ubuntu`, ""},
		{`//wsl$/ubuntu`, ""},
		{`\\?\UNC\wsl.localhost\Ubuntu`, ""},
		{`\\server\share`, "/mnt/share"},
		{`\\?\unc\SERVER\share`, "/mnt/share"},
		{`file:///C:`, "/mnt/c"},
		{`file:///c%3A`, "/mnt/c"},
		{`file://wsl.localhost/Ubuntu`, ""},
		{`file://wsl%24/Ubuntu`, ""},
		{`file:////server/share`, "/mnt/share"},
		{`file://`, ""},
		{`vscode-remote://wsl+Ubuntu`, ""},
	}
	return rapid.Custom(func(t *rapid.T) spelling {
		root := rapid.SampledFrom(roots).Draw(t, "root")
		names := rapid.SliceOfN(name, 1, 6).Draw(t, "names")
		isURI := pathxlate.FormOf(root.text).IsURI()
		separators := []string{"/"}
		if !isURI {
			separators = []string{`\`, "/", `\\`, `\.\`, "//", "/./", `\x\..\`}
		}
		s := spelling{text: root.text, linux: root.linux, mount: root.linux}
		for _, name := range names {
			s.linux += "/" + name
			if isURI {
				name = url.PathEscape(name)
			}
			s.text += rapid.SampledFrom(separators).Draw(t, "separator") + name
		}
		return s
	})
}

func propertyTranslator(tb testing.TB) pathxlate.Translator {
	tb.Helper()
	return testdata.PathCase{Distro: "Ubuntu", Mounts: "default"}.Translator(tb)
}

// TestPropertyInbound checks each form against its grammar.
func TestPropertyInbound(t *testing.T) {
	translator := propertyTranslator(t)
	rapid.Check(t, func(t *rapid.T) {
		s := spellings().Draw(t, "spelling")
		if linux, err := translator.ToLinux(s.text); linux != s.linux || err != nil {
			t.Fatalf("ToLinux(%q) is %q, %v; want %q", s.text, linux, err, s.linux)
		}
		windows, err := translator.ToWindows(s.linux)
		if err != nil {
			t.Fatalf("ToWindows(%q): %v", s.linux, err)
		}
		if back, err := translator.ToLinux(windows); back != s.linux || err != nil {
			t.Fatalf("%q became %q, and that %q, %v", s.linux, windows, back, err)
		}
	})
}

// TestPropertyRoots checks that what lies below a root begins with the root as the
// client spelled it, and means the same to the client.
func TestPropertyRoots(t *testing.T) {
	translator := propertyTranslator(t)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(spellings(), 1, 4).Draw(t, "roots")
		var roots pathxlate.Roots
		for _, root := range all {
			roots.Add(root.text, root.linux)
		}
		inside := rapid.SampledFrom(all).Draw(t, "inside")
		linux := inside.linux + rapid.SampledFrom([]string{"", "/a", "/b c/d%e"}).Draw(t, "rest")

		shown, err := roots.Outbound(translator, linux)
		if err != nil {
			t.Fatalf("Outbound(%q): %v", linux, err)
		}
		if back, err := translator.ToLinux(shown); back != linux || err != nil {
			t.Fatalf("Outbound(%q) is %q, which is %q, %v", linux, shown, back, err)
		}
		if !slices.ContainsFunc(all, func(root spelling) bool { return strings.HasPrefix(shown, root.text) }) {
			t.Fatalf("Outbound(%q) is %q, which begins with no root", linux, shown)
		}

		uri, err := roots.OutboundURI(translator, "file://"+(&url.URL{Path: linux}).EscapedPath()+"?q#f")
		if err != nil {
			t.Fatalf("OutboundURI of %q: %v", linux, err)
		}
		base, ok := strings.CutSuffix(uri, "?q#f")
		if back, err := translator.ToLinux(base); !ok || back != linux || err != nil {
			t.Fatalf("OutboundURI of %q is %q, which is %q, %v", linux, uri, back, err)
		}
	})
}

// TestPropertyDirKey checks that spellings of one folder have one key, whatever the
// case where Windows has none.
func TestPropertyDirKey(t *testing.T) {
	translator := propertyTranslator(t)
	rapid.Check(t, func(t *rapid.T) {
		s := spellings().Draw(t, "spelling")
		if !translator.SameDir(s.text, s.linux) {
			t.Fatalf("%q and %q are not the same", s.text, s.linux)
		}
		other := s.mount + asciiUpper(s.linux[len(s.mount):])
		if got := translator.SameDir(s.linux, other); got != (s.mount != "" || s.linux == other) {
			t.Fatalf("SameDir(%q, %q) is %v", s.linux, other, got)
		}
	})
}

func asciiUpper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

// TestPropertyPieces holds what the fuzz targets hold against inputs that are put
// together from the pieces by which forms are told apart, in any order.
func TestPropertyPieces(t *testing.T) {
	pieces := []string{
		"/", "/", "/", `\`, `\`, "C:", "c:", "e:", "W:", "a", "b c", ".", "..", "?", "??", "#", ":", "|", "%2F", "%5C", "%3A", "%", "~",
		"mnt", "c", "file:", "FILE:", "vscode-remote:", "vscode:", "vscode-remote", "wsl+Ubuntu", "wsl%2Bubuntu", "localhost",
		"wsl.localhost", "wsl$", "wsl%24", "Ubuntu", "Debian", "server", "share", "UNC", "Volume{1}", "GLOBALROOT",
		"\uF05C", "\uF03A", "\uF02F", "\uFF1A", "\uFE0F", "日",
	}
	translators := fuzzTranslators(t)
	for range 100 { // one check is 100 inputs, too few for so many combinations
		rapid.Check(t, func(t *rapid.T) {
			input := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
			for _, translator := range translators {
				checkToLinux(t, translator, input)
				checkToWindows(t, translator, input)
				checkRoundTrip(t, translator, input)
				checkURI(t, translator, input)
			}
		})
	}
}
