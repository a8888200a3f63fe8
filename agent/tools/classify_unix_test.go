//go:build unix

package tools

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// The words of a command are those that bash itself makes of it. bash only
// prints them here.
func TestWordsAreThoseOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	lines := []string{
		`a 'b c' "d e" f\ g`, `a "\$x \" \\ \n"`, `a '\n' \n`, `a ""`, `a ''`, `a""b'c'd`, `a \*`, `a "*"`, `a '?' \[x\]`,
		`a ~`, `a ~/x`, `a "~"`, `a '~/x'`, `a \~`, `a x~`, `a x/~`, `a {} {}x`, `a \{b,c\}`, `a '{b,c}'`, `a "x\
y"`, `a x\
y`, `a é 日本 "ü\"`, `a "é\\"`, `a # b`, `a b#c`, `a !`, `a "!"`, `a %1`, `a @ ^ + , = :`, `a --x=y`, `a -- -x`, `a }`, `a x{}y`,
	}
	for _, row := range verdictRows(t) {
		lines = append(lines, row.line)
	}
	compared := 0
	for _, line := range lines {
		got := testClassifier().classify(line, testDir).command
		file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
		if !got.Plain || len(got.Calls) != 1 || err != nil || !isOneCall(file) {
			continue
		}
		cmd := exec.Command(bash, "--noprofile", "--norc", "-c", `show() { printf '%s\0' "$@"; }; show `+line)
		cmd.Env = []string{"HOME=/home/anna", "LC_ALL=C.UTF-8"}
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got.Calls[0].Words, want) {
			t.Errorf("%q: words %q, bash has %q", line, got.Calls[0].Words, want)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d lines were compared", compared)
	}
}

func isOneCall(file *syntax.File) bool {
	if len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Negated || file.Stmts[0].Background {
		return false
	}
	_, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok
}
