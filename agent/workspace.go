package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Workspace is where a session works. It belongs to one session and is the same
// for its prompt, its context files and its tools.
type Workspace struct {
	SessionID string
	// Cwd is absolute; relative paths resolve against it, never against the
	// process's own directory.
	Cwd string
	// Dirs are the additional roots, absolute.
	Dirs []string
	// Translate turns a path that a model wrote in Windows form into its Linux
	// form. Outside WSL it returns the path as it is.
	Translate func(path string) (string, error)
	// Entries returns the session's plan as it stands.
	Entries func() []PlanEntry
}

// Roots are the cwd and the additional directories.
func (w *Workspace) Roots() []string {
	return append([]string{w.Cwd}, w.Dirs...)
}

// Resolve makes a path as a model wrote it absolute and clean; ~ is the home
// folder of this process. It does not follow symbolic links.
func (w *Workspace) Resolve(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("path %q: %w", path, errNulInPath)
	}
	if w.Translate != nil {
		linux, err := w.Translate(path)
		if err != nil {
			return "", err
		}
		path = linux
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("path %q: %w", path, err)
		}
		path = home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	return filepath.Clean(path), nil
}

// Contains reports whether target, a path without symbolic links, is one of the
// roots or below one. Roots are compared with their own links resolved.
func (w *Workspace) Contains(target string) bool {
	for _, root := range w.Roots() {
		if resolved, err := ResolveLinks(root); err == nil && within(target, resolved) {
			return true
		}
	}
	return false
}

// within reports whether path is dir or below it; both are absolute and clean.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

var (
	errNulInPath    = errors.New("holds a NUL byte")
	errTooManyLinks = errors.New("too many symbolic links")
)

// maxLinks is Linux's own limit for one path.
const maxLinks = 40

// ResolveLinks returns path, absolute, with every symbolic link followed and
// every `..` taken as the system takes it: behind a link it leads out of the
// link's target. Unlike filepath.EvalSymlinks it accepts a path whose end does
// not exist, also behind a dangling link: it returns where a write would create
// the file.
func ResolveLinks(path string) (string, error) {
	resolved, rest := splitVolume(path)
	for links := 0; rest != ""; {
		var element string
		element, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch element {
		case "", ".":
			continue
		case "..":
			resolved = filepath.Dir(resolved)
			continue
		}
		next := filepath.Join(resolved, element)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return filepath.Join(next, rest), nil
		case err != nil:
			return "", fmt.Errorf("resolve %s: %w", path, err)
		case info.Mode()&fs.ModeSymlink == 0:
			resolved = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolve %s: %w", path, errTooManyLinks)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		if filepath.IsAbs(to) {
			resolved, to = splitVolume(to)
		}
		rest = to + string(filepath.Separator) + rest
	}
	return resolved, nil
}

// splitVolume splits an absolute path into its root (`/`, `C:\`) and the rest.
func splitVolume(path string) (root, rest string) {
	n := len(filepath.VolumeName(path))
	if n < len(path) && os.IsPathSeparator(path[n]) {
		n++
	}
	return path[:n], path[n:]
}
