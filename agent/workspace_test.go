package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	cwd := filepath.Join(t.TempDir(), "ws")
	unmapped := errors.New("not mapped")
	ws := &Workspace{Cwd: cwd, Translate: func(p string) (string, error) {
		switch p {
		case `C:\proj\a.go`:
			return filepath.Join(cwd, "a.go"), nil
		case `Q:\x`:
			return "", unmapped
		}
		return p, nil
	}}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for path, want := range map[string]string{
		"~":              home,
		"~/.bashrc":      filepath.Join(home, ".bashrc"),
		"~x":             filepath.Join(cwd, "~x"),
		"":               cwd,
		".":              cwd,
		"a/../b":         filepath.Join(cwd, "b"),
		"../x":           filepath.Join(filepath.Dir(cwd), "x"),
		`C:\proj\a.go`:   filepath.Join(cwd, "a.go"),
		cwd + "/sub/../": cwd,
	} {
		if got, err := ws.Resolve(path); err != nil || got != want {
			t.Errorf("%q: %q, error %v; want %q", path, got, err, want)
		}
	}
	if _, err := ws.Resolve(`Q:\x`); !errors.Is(err, unmapped) {
		t.Errorf("error %v", err)
	}
	if _, err := ws.Resolve("a\x00b"); !errors.Is(err, errNulInPath) {
		t.Errorf("error %v", err)
	}
}

func TestResolveLinks(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(elements ...string) string { return filepath.Join(append([]string{base}, elements...)...) }
	if err := os.MkdirAll(in("real", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"dir":      "real",
		"absolute": in("real", "sub"),
		"chain":    "dir",
		"dangling": in("nowhere", "file"),
		"up":       filepath.Join("real", "sub", "..", ".."),
		"loop":     "loop",
		"over":     filepath.Join(in("absolute")) + "/..",
	} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Skip("symbolic links are not available:", err)
		}
	}
	for path, want := range map[string]string{
		in("real", "x"):           in("real", "x"),
		in("dir", "x"):            in("real", "x"),
		in("absolute"):            in("real", "sub"),
		in("chain", "sub", "new"): in("real", "sub", "new"),
		in("dangling"):            in("nowhere", "file"),
		in("dangling", "deeper"):  in("nowhere", "file", "deeper"),
		in("up", "real"):          in("real"),
		in("absolute") + "/..":    in("real"), // not in()
		in("absolute") + "/../x":  in("real", "x"),
		in("over", "x"):           in("real", "x"),
		in("real") + "//./sub/":   in("real", "sub"),
		in("new", "a", "b"):       in("new", "a", "b"),
	} {
		if got, err := ResolveLinks(path); err != nil || got != want {
			t.Errorf("%s: %s, error %v; want %s", path, got, err, want)
		}
	}
	if got, err := ResolveLinks(in("loop")); !errors.Is(err, errTooManyLinks) {
		t.Errorf("a loop: %s, error %v", got, err)
	}
}

func TestContainsComparesFoldersNotText(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := &Workspace{Cwd: filepath.Join(base, "ws"), Dirs: []string{filepath.Join(base, "more")}}
	for path, want := range map[string]bool{
		filepath.Join(base, "ws"):          true,
		filepath.Join(base, "ws", "a"):     true,
		filepath.Join(base, "more", "a"):   true,
		filepath.Join(base, "ws-other"):    false,
		filepath.Join(base, "w"):           false,
		base:                               false,
		filepath.Join(base, "moreover/ws"): false,
	} {
		if got := ws.Contains(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if root := (&Workspace{Cwd: filepath.VolumeName(base) + string(filepath.Separator)}); !root.Contains(filepath.Join(base, "x")) {
		t.Error("the root folder does not contain everything")
	}
}
