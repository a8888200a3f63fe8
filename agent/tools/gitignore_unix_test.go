//go:build unix

package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What .gitignore files exclude is what git itself leaves out.
func TestIgnoreRulesAreThoseOfGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	paths := []string{
		"a", "a.o", "b.txt", "build/x", "sub/build/x", "sub/a.o", "sub/deep/a.o", "sub/keep.o", "doc/a.html", "doc/sub/b.html",
		"foo/bar/x", "x/foo/bar/y", "#hash", "!bang", "trail ", "trail", "br{a}ce", "c1", "c2", "cx", "log/a.log", "log/keep.log",
		"tmp/a/b/c", "tmp/c", "deep/1/2/z.tmp", "z.tmp", "dir.d/file", "file.d", "sub/only/here", "only/here", "q?x", "qyx", ".hidden", "sub/.hidden",
		"vendor/v/a.o", "vendor/keep/a.o", "ünï", "sp ace",
	}
	for name, files := range map[string]map[string]string{
		"names and suffixes": {".gitignore": "*.o\n!keep.o\nbuild\n"},
		"anchored":           {".gitignore": "/build\n/only/\ndoc/*.html\nfoo/bar\n"},
		"stars":              {".gitignore": "**/foo/bar\ntmp/**/c\ndeep/**\n"},
		"escapes":            {".gitignore": "\\#hash\n\\!bang\ntrail\\ \nbr{a}ce\nq\\?x\n# comment\n\n"},
		"classes":            {".gitignore": "c[0-9]\n[!a-y].tmp\n"},
		"folders only":       {".gitignore": "*.d/\nlog/\n"},
		"negated in folder":  {".gitignore": "log/*\n!log/keep.log\n"},
		"excluded folder":    {".gitignore": "log/\n!log/keep.log\n"},
		"nested":             {".gitignore": "*.o\n.hidden\n", "sub/.gitignore": "!a.o\n/deep/\n", "vendor/.gitignore": "!*.o\nkeep\n"},
		"trailing blanks":    {".gitignore": "a   \nb.txt\t\n"},
		"CRLF":               {".gitignore": "*.o\r\nbuild\r\n"},
		"everything":         {".gitignore": "*\n!*.txt\n!*/\n"},
		"info exclude":       {".git/info/exclude": "*.o\n", ".gitignore": "!sub/a.o\n"},
		"spaces":             {".gitignore": "sp ace\nünï\n"},
		"one question mark":  {".gitignore": "c?\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWorkbench(t)
			git := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-c", "core.quotePath=false", "-c", "core.excludesFile="}, args...)...)
				cmd.Dir = b.ws.Cwd
				cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+b.ws.Cwd)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("git %v: %v", args, err)
				}
				return string(out)
			}
			git("init", "-q")
			for _, path := range paths {
				b.write(t, path, "x")
			}
			for path, text := range files {
				b.write(t, path, text)
			}
			want := strings.Split(strings.TrimSuffix(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
			var got []string
			found := make(chan string, 1000)
			walkFiles(t.Context(), b.ws.Cwd, func(path string) bool {
				found <- path
				return true
			})
			close(found)
			for path := range found {
				rel, err := filepath.Rel(b.ws.Cwd, path)
				must(t, err)
				got = append(got, filepath.ToSlash(rel))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-git +ours)\n%s", diff)
			}
		})
	}
}
