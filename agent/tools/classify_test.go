package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-acp/hermes-acp/agent"
)

func testClassifier() classifier {
	return classifier{lang: syntax.LangBash, home: filepath.FromSlash("/home/anna")}
}

const testDir = "/home/anna/ws"

type verdictRow struct{ id, verdict, line, why string }

func verdictRows(tb testing.TB) []verdictRow {
	tb.Helper()
	data, err := os.ReadFile("testdata/shell_verdicts.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	unescape := strings.NewReplacer("␤", "\n", "␍", "\r", "␛", "\x1b")
	var rows []verdictRow
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if strings.HasPrefix(line, "#") || fields[0] == "id" {
			continue
		}
		if len(fields) != 4 {
			tb.Fatalf("row %q has %d columns", line, len(fields))
		}
		rows = append(rows, verdictRow{fields[0], fields[1], unescape.Replace(fields[2]), fields[3]})
	}
	return rows
}

// Every row of the table gets its verdict. Rows E05 and E29 of the bug list are
// among them.
func TestE05_E29_E32_ShellVerdicts(t *testing.T) {
	for _, row := range verdictRows(t) {
		t.Run(row.id, func(t *testing.T) {
			got := testClassifier().classify(row.line, testDir)
			verdict := map[agent.Verdict]string{agent.VerdictAsk: "ask", agent.VerdictSafe: "run", agent.VerdictNever: "never"}[got.command.Verdict]
			if verdict != row.verdict {
				t.Errorf("%q: %s (%s), want %s: %s", row.line, verdict, got.command.Reason, row.verdict, row.why)
			}
			if dangerous := strings.HasPrefix(row.why, "dangerous"); dangerous != got.command.Dangerous {
				t.Errorf("%q: dangerous is %v (%s)", row.line, got.command.Dangerous, got.command.Reason)
			}
			if verdict == "run" != (got.command.Reason == "") {
				t.Errorf("%q: %s with the reason %q", row.line, verdict, got.command.Reason)
			}
		})
	}
}

// What a safe command reads is named, so that the rules for reading decide.
func TestSafeCommandsNameWhatTheyRead(t *testing.T) {
	for _, tc := range []struct {
		line string
		want []string
	}{
		{"cat a /etc/passwd ~/.ssh/id_rsa", []string{testDir + "/a", "/etc/passwd", "/home/anna/.ssh/id_rsa"}},
		{"ls", []string{testDir}},
		{"ls src/*.go", []string{testDir + "/src"}},
		{"cd sub && cat a", []string{testDir + "/sub/a"}},
		{"(cd sub && cat a) && cat b", []string{testDir + "/sub/a", testDir + "/b"}},
		{"grep foo a", []string{testDir + "/a"}},
		{"grep -e foo a", []string{testDir + "/a"}},
		{"grep -n -e foo -- -a", []string{testDir + "/-a"}},
		{"head -n 5 a", []string{testDir + "/a"}},
		{"wc -l < ../secret", []string{"/home/anna/secret", testDir}},
		{"git diff .env", []string{testDir + "/.env", testDir}},
		{"git show HEAD:.env", []string{testDir + "/.env", testDir + "/.env", testDir}},
		{"git show :0:.env", []string{testDir + "/0:.env", testDir + "/.env", testDir}},
		{"git status ../a~1", []string{"/home/anna/a~1", testDir}},
		{"git log origin/main~2..", []string{testDir + "/origin/main_2", testDir}},
		{"git diff @x/../.env", []string{testDir + "/.env", testDir}},
		{"git diff HEAD~1 -- .env", []string{testDir + "/HEAD", testDir + "/.env", testDir}},
		{"find /etc -name passwd", []string{"/etc"}},
		{"sed -n 1p .env", []string{testDir + "/.env"}},
		{"echo .env", nil},
		{"grep foo a /dev/null", []string{testDir + "/a"}},
		{"cat < /dev/null", nil},
	} {
		got := testClassifier().classify(tc.line, testDir)
		if got.command.Verdict != agent.VerdictSafe {
			t.Errorf("%s: not safe: %s", tc.line, got.command.Reason)
		}
		var reads []string
		for _, path := range got.reads {
			reads = append(reads, filepath.Clean(path))
		}
		if diff := cmp.Diff(tc.want, reads); diff != "" {
			t.Errorf("%s: reads (-want +got)\n%s", tc.line, diff)
		}
	}
}

func TestCommandsOfALine(t *testing.T) {
	for _, tc := range []struct {
		line  string
		plain bool
		want  []agent.SimpleCommand
	}{
		{"go test", true, []agent.SimpleCommand{{Words: []string{"go", "test"}, Dir: testDir}}},
		{`go   "test" './...'`, true, []agent.SimpleCommand{{Words: []string{"go", "test", "./..."}, Dir: testDir}}},
		{"cd web && npm test", true, []agent.SimpleCommand{
			{Words: []string{"cd", "web"}, Dir: testDir, Safe: true},
			{Words: []string{"npm", "test"}, Dir: testDir + "/web"},
		}},
		{"go test | tail -5", true, []agent.SimpleCommand{
			{Words: []string{"go", "test"}, Dir: testDir},
			{Words: []string{"tail", "-5"}, Dir: testDir, Safe: true},
		}},
		{"go test > out", false, []agent.SimpleCommand{{Words: []string{"go", "test"}, Dir: testDir}}},
		{"X=1 go test", false, []agent.SimpleCommand{{Words: []string{"go", "test"}, Dir: testDir}}},
		{"go test *.go", false, []agent.SimpleCommand{{Words: []string{"go", "test", "*.go"}, Dir: testDir}}},
		{"echo x | go run .", false, []agent.SimpleCommand{
			{Words: []string{"echo", "x"}, Dir: testDir, Safe: true},
			{Words: []string{"go", "run", "."}, Dir: testDir},
		}},
		{"go test $(rm x)", false, []agent.SimpleCommand{
			{Words: []string{"rm", "x"}, Dir: testDir},
			{Words: []string{"go", "test", "$(...)"}, Dir: testDir},
		}},
	} {
		got := testClassifier().classify(tc.line, testDir).command
		if got.Plain != tc.plain {
			t.Errorf("%s: plain is %v (%s)", tc.line, got.Plain, got.Reason)
		}
		if diff := cmp.Diff(tc.want, got.Calls); diff != "" {
			t.Errorf("%s: calls (-want +got)\n%s", tc.line, diff)
		}
	}
}

func TestRedirectionsAreWrites(t *testing.T) {
	got := testClassifier().classify("cd sub && echo x > a.txt 2>/dev/null", testDir).command
	if diff := cmp.Diff([]string{testDir + "/sub/a.txt"}, got.Writes); diff != "" {
		t.Errorf("writes (-want +got)\n%s", diff)
	}
}

// A repository's configuration can name programs that git runs for a diff.
func TestSafeGitRunsWithoutExternalPrograms(t *testing.T) {
	for line, want := range map[string]string{
		"git diff":                      "git diff --no-ext-diff --no-textconv",
		"ls && git log -1 && git  show": "ls && git log --no-ext-diff --no-textconv -1 && git  show --no-ext-diff --no-textconv",
		"git 'diff' a | cat":            "git 'diff' --no-ext-diff --no-textconv a | cat",
		"git status":                    "git status",
		"git diff && touch x":           "git diff && touch x", // asks, and runs as it was shown
	} {
		if got := testClassifier().classify(line, testDir).run; got != want {
			t.Errorf("%s: runs %q, want %q", line, got, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, row := range verdictRows(f) {
		f.Add(row.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := testClassifier().classify(line, testDir)
		if got.command.Verdict != agent.VerdictSafe {
			return
		}
		// Whatever runs unasked consists of nothing but listed commands.
		file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
		if err != nil {
			t.Fatalf("%q is safe but does not parse: %v", line, err)
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case nil, *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.TimeClause,
				*syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.Comment, *syntax.Redirect:
			case *syntax.CallExpr:
				if len(n.Assigns) > 0 || len(n.Args) == 0 || !isListed(n.Args[0]) {
					t.Errorf("%q is safe but runs something that is not listed", line)
				}
			default:
				t.Errorf("%q is safe but holds a %T", line, n)
			}
			return true
		})
		if len(got.command.Writes) > 0 {
			t.Errorf("%q is safe but writes %v", line, got.command.Writes)
		}
		// What is run instead is still safe.
		if again := testClassifier().classify(got.run, testDir); again.command.Verdict == agent.VerdictNever {
			t.Errorf("%q runs as %q", line, got.run)
		}
	})
}

func isListed(word *syntax.Word) bool {
	r := lineReader{classifier: testClassifier()}
	name, kind := r.word(word)
	if kind != wordLiteral {
		return false
	}
	switch name {
	case "git", "find", "sed", "command", "test", "[":
		return true
	}
	_, ok := safeCommandByName()[name]
	return ok
}

func BenchmarkClassify(b *testing.B) {
	for _, line := range []string{"go test ./...", "cd src && git diff --stat | head -20", "rm -rf build && npm ci && npm run build > out.log 2>&1"} {
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			for b.Loop() {
				testClassifier().classify(line, testDir)
			}
		})
	}
}

// Lines made to cost much are refused or read in reasonable time: the test
// would not end otherwise.
func TestClassifyEndsOnHostileLines(t *testing.T) {
	for _, part := range []string{"$(", "(", "{ ", "env eval ", "sudo sh -c ", "a|", "a&&", "for i in $(", "f() { ", "`", "<(", "${x:-", "if ", "\"$(", "eval "} {
		for _, n := range []int{10, 100, 3000} {
			got := testClassifier().classify(strings.Repeat(part, n)+"ls", testDir)
			if got.command.Verdict == agent.VerdictSafe {
				t.Errorf("%d times %q runs unasked", n, part)
			}
		}
	}
	if got := testClassifier().classify(strings.Repeat("ls;", maxClassified), testDir); got.command.Verdict != agent.VerdictAsk {
		t.Error("a line that is too long runs unasked")
	}
}
