package agent

import "path/filepath"

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
}

// Roots are the cwd and the additional directories.
func (w *Workspace) Roots() []string {
	return append([]string{w.Cwd}, w.Dirs...)
}

// Resolve makes a path as a model wrote it absolute and clean. It does not
// follow symbolic links.
func (w *Workspace) Resolve(path string) (string, error) {
	if w.Translate != nil {
		linux, err := w.Translate(path)
		if err != nil {
			return "", err
		}
		path = linux
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	return filepath.Clean(path), nil
}
