package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

// runPaths runs `hermes-acp paths ARGS` and returns its output and exit code.
func runPaths(t *testing.T, stdin string, args ...string) (stdout string, code int) {
	t.Helper()
	var out bytes.Buffer
	app := &cli.App{
		Name:           "hermes-acp",
		Reader:         strings.NewReader(stdin),
		Writer:         &out,
		ExitErrHandler: func(*cli.Context, error) {},
		Commands:       []*cli.Command{pathsCommand()},
	}
	err := app.RunContext(t.Context(), append([]string{"hermes-acp", "paths"}, args...))
	var exit cli.ExitCoder
	switch {
	case err == nil:
		return out.String(), 0
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode()
	}
	return out.String() + err.Error() + "\n", 1
}

// TestPathsFixtures holds the command against the fixtures of pathxlate.
func TestPathsFixtures(t *testing.T) {
	for _, c := range testdata.PathCases(t, "to-linux", "to-windows", "uri-to-windows") {
		if len(c.Drives) > 0 || strings.HasPrefix(c.Mounts, "conf:") {
			continue // no flag says this
		}
		t.Run(c.ID, func(t *testing.T) {
			args := []string{c.Op, "--distro", c.Distro}
			if text, ok := c.MountInfo(t); ok {
				file := filepath.Join(t.TempDir(), "mountinfo")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--mountinfo", file)
			} else {
				args = append(args, "--automount-root", strings.TrimPrefix(c.Mounts, "lex:"))
			}
			if c.MSYS {
				args = append(args, "--msys")
			}
			stdout, code := runPaths(t, "", append(args, "--", c.Input)...)
			if c.Err == "" {
				if diff := cmp.Diff("ok\t"+c.Want+"\n", stdout); diff != "" || code != 0 {
					t.Errorf("exit code %d, want 0; want - got +\n%s", code, diff)
				}
				return
			}
			if !strings.HasPrefix(stdout, "error\t"+c.Err+"\t") || strings.Count(stdout, "\n") != 1 || code != 1 {
				t.Errorf("exit code %d and %q, want 1 and one line of %s", code, stdout, c.Err)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	lexical := []string{"--distro", "Ubuntu", "--automount-root", "/mnt/"}
	for _, test := range []struct {
		name  string
		op    string
		flags []string
		paths []string
		stdin string
		want  string
		code  int
	}{
		{
			name: "several", op: "to-linux", flags: lexical, paths: []string{`C:\a`, `\\wsl$\Ubuntu\b`},
			want: "ok\t/mnt/c/a\nok\t/b\n",
		},
		{
			name: "one of them fails", op: "to-linux", flags: lexical, paths: []string{`C:\a`, `C:b`, `D:\c`},
			want: "ok\t/mnt/c/a\n" +
				"error\tErrDriveRelative\tto-linux \"C:b\": the path is relative to the current directory of a drive: write a backslash after the colon: \"C:\\b\"\n" +
				"ok\t/mnt/d/c\n",
			code: 1,
		},
		{
			name: "stdin in the middle", op: "to-windows", flags: lexical, paths: []string{"/mnt/c", "-", "/x"},
			stdin: "/a\n/mnt/d/b\r\n\n/last",
			want: "ok\tC:\\\nok\t\\\\wsl.localhost\\Ubuntu\\a\nok\tD:\\b\n" +
				"error\tErrEmpty\tto-windows \"\": the path is empty: give an absolute path\n" +
				"ok\t\\\\wsl.localhost\\Ubuntu\\last\nok\t\\\\wsl.localhost\\Ubuntu\\x\n",
			code: 1,
		},
		{name: "empty stdin", op: "to-linux", flags: lexical, paths: []string{"-"}},
		{
			name: "json", op: "to-windows", flags: append([]string{"--json"}, lexical...), paths: []string{"/mnt/c/a&b/NUL", "x"},
			want: `{"input":"/mnt/c/a&b/NUL","form":"posix","rule":"automount-root","result":"C:\\a&b\\NUL","caveat":"Windows opens a device under the name \"NUL\""}` + "\n" +
				`{"input":"x","form":"relative","error":"ErrRelative","message":"to-windows \"x\": the path is relative: give an absolute path, such as C:\\work or /home/me/work"}` + "\n",
			code: 1,
		},
		{
			name: "no path", op: "to-linux", flags: lexical,
			want: "paths to-linux: give a path, or - to read paths from stdin\n", code: 1,
		},
		{
			name: "two mount tables", op: "to-linux", flags: append([]string{"--mountinfo", "x"}, lexical...), paths: []string{"/"},
			want: "paths to-linux: give only one of --automount-root and --mountinfo\n", code: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{test.op}, test.flags...)
			stdout, code := runPaths(t, test.stdin, append(args, test.paths...)...)
			if diff := cmp.Diff(test.want, stdout); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
		})
	}
}

func TestPathsMissingMountInfo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none")
	stdout, code := runPaths(t, "", "to-linux", "--mountinfo", file, `C:\`)
	if code != 1 || !strings.Contains(stdout, file) {
		t.Errorf("exit code %d and %q, want 1 and the name of the file", code, stdout)
	}
}

// TestPathsLocal leaves the flags out: the machine says what they would.
func TestPathsLocal(t *testing.T) {
	var want bytes.Buffer
	if err := writeTextLine(&want, localTranslator().Explain(pathxlate.OpToLinux, `C:\a`)); err != nil {
		t.Fatal(err)
	}
	stdout, _ := runPaths(t, "", "to-linux", `C:\a`)
	if diff := cmp.Diff(want.String(), stdout); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}
