package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplaceAlikeLines(t *testing.T) {
	for _, tc := range []struct{ name, text, old, repl, want string }{
		{"trailing white space", "a  \nb\t\nc\n", "a\nb\n", "x\n", "x\nc\n"},
		{"indentation, which is kept", "\tif x {\n\t\ty\n\t}\n", "if x {\n\ty\n}", "if z {\n\tw\n}", "\tif z {\n\t\tw\n\t}\n"},
		{"blanks for tabs", "\tfoo()\n", "    foo()\n", "    bar()\n", "\tbar()\n"},
		{"typographic quotes", "say(“hi”)\n", "say(\"hi\")", "say(\"ho\")", "say(\"ho\")\n"},
		{"no-break blanks and dashes", "a\u00a0– b\n", "a - b", "c", "c\n"},
		{"in a CRLF file", "x\r\n a \r\ny\r\n", "a\n", "b\n", "x\r\n b\r\ny\r\n"},
		{"exact beats alike", "a \na\n", "a\n", "b\n", "a \nb\n"},
	} {
		got, n, err := replace(tc.text, tc.old, tc.repl, false)
		if err != nil || n != 1 || got != tc.want {
			t.Errorf("%s: %q, error %v; want %q", tc.name, got, err, tc.want)
		}
	}
}

// A loose match never beats ambiguity, and never changes text outside of it
// (NousResearch/hermes-agent#93698).
func TestE06_LooseMatchNeedsExactlyOnePlace(t *testing.T) {
	rows := "| a  | 1 |\n| x | y |\n| a |  1 |\n"
	if got, _, err := replace(rows, "| a | 1 |", "| a | 2 |", false); err == nil || !strings.Contains(err.Error(), "lines 1, 3") {
		t.Errorf("%q, error %v", got, err)
	}
	got, _, err := replace("| a  | 1 |\n| b | y |\n", "| a | 1 |", "| a | 2 |", false)
	if diff := cmp.Diff("| a | 2 |\n| b | y |\n", got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
	for _, old := range []string{"a | 1", " \n", "\n\n\n", "| c | 1 |"} {
		if got, _, err := replace("| a  | 1 |\n\n", old, "x", false); err == nil {
			t.Errorf("%q matched: %q", old, got)
		}
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("a\nb\n", "a\n", "c\n", false)
	f.Add("a\r\n b\r\n", "b", "c\nd", false)
	f.Add("x x x", "x", "", true)
	f.Add("| a  | 1 |\n| a |  1 |\n", "| a | 1 |", "z", false)
	f.Fuzz(func(t *testing.T, text, old, repl string, all bool) {
		got, n, err := replace(text, old, repl, all)
		if err != nil {
			if got != "" {
				t.Errorf("failed and returned text %q", got)
			}
			return
		}
		view := toLF(text)
		exact := occurrences(view, toLF(old))
		switch {
		case !all && len(exact) > 1:
			t.Errorf("%q: edited although %d places match", text, len(exact))
		case len(exact) == 0:
			want := strings.SplitAfter(toLF(old), "\n")
			if want[len(want)-1] == "" {
				want = want[:len(want)-1]
			}
			for i := range want {
				want[i] = alikeLine(want[i])
			}
			if found := alikeRuns(strings.SplitAfter(view, "\n"), want); len(found) != 1 || n != 1 {
				t.Errorf("%q: edited although %d places are alike", text, len(found))
			}
		case len(exact) == 1:
			cursor := newViewCursor(text, view)
			from, to := cursor.seek(exact[0]), cursor.seek(exact[0]+len(toLF(old)))
			if toLF(text[from:to]) != toLF(old) {
				t.Errorf("%q: the match is %q, not %q", text, text[from:to], old)
			}
			if !strings.HasPrefix(got, text[:from]) || !strings.HasSuffix(got, text[to:]) {
				t.Errorf("%q became %q: text outside the match changed", text, got)
			}
		}
	})
}

func BenchmarkReplaceIn5MiB(b *testing.B) {
	line := "the quick brown fox jumps over the lazy dog\n"
	text := strings.Repeat(line, 5<<20/len(line)) + "needle\n" + line
	for name, text := range map[string]string{"lf": text, "crlf": strings.ReplaceAll(text, "\n", "\r\n")} {
		b.Run(name, func(b *testing.B) {
			bench := newWorkbench(b)
			bench.write(b, "f", text)
			for b.Loop() {
				for _, pair := range [][2]string{{"needle", "thread"}, {"thread", "needle"}} {
					if _, err := bench.call(b, "patch", args{"path": "f", "old_string": pair[0], "new_string": pair[1]}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(2*b.N), "µs/replace")
		})
	}
}
