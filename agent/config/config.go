// Package config reads Hermes' own configuration: the .env and config.yaml of
// its home folder, joined with the process's environment and the command line.
//
// Values are found in this order: flag, process environment, .env, config.yaml,
// default. Behind the bridge, variables that came from Windows only fill gaps,
// after config.yaml, unless the person asked that they win (see environment.go).
//
// Reading is cheap and nothing is kept: read again to see a change.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Source says where the configuration comes from.
type Source struct {
	// Home is Hermes' home folder, as Home returns it.
	Home string
	// LookupEnv reads the process's environment; os.LookupEnv outside tests.
	LookupEnv func(name string) (string, bool)
	// Provider, BaseURL and Model are the command line's; empty where it says
	// nothing.
	Provider, BaseURL, Model string
}

// Config is the configuration at the moment it was read.
type Config struct {
	Settings

	source    Source
	env       environment
	providers []provider // the table's and the person's own
	layers    []layer
}

// FileError is a configuration file that cannot be used. It quotes nothing of
// the file, which can hold keys.
type FileError struct {
	Path   string
	Line   int // 1-based; 0 when it concerns the whole file
	Reason string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
}

// Read reads .env and config.yaml, either of which may be missing. Its error is
// a *FileError.
func (s Source) Read() (*Config, error) {
	c := &Config{source: s}
	path := c.path(".env")
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	dotenv, err := parseDotenv(path, text)
	if err != nil {
		return nil, err
	}
	c.env = newEnvironment(s.LookupEnv, dotenv)

	path = c.path("config.yaml")
	if text, err = readFile(path); err != nil {
		return nil, err
	}
	if c.Settings, err = parseSettings(path, text); err != nil {
		return nil, err
	}
	c.providers = append(providers(), c.ownProviders()...)
	c.layers = c.readLayers()
	return c, nil
}

// Stamp identifies a state of the configuration's files. It is comparable.
type Stamp [2]fileStamp

type fileStamp struct {
	size    int64
	modTime time.Time
}

// Stamp looks at the files without reading them. Equal stamps mean equal files
// once they are settled.
func (s Source) Stamp() Stamp {
	var stamp Stamp
	for i, name := range [...]string{".env", "config.yaml"} {
		if info, err := os.Stat(filepath.Join(s.Home, name)); err == nil {
			stamp[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	return stamp
}

// Settled reports whether the files have been as they are for a while: a file can
// change twice within one tick of its clock.
func (s Stamp) Settled() bool {
	for _, f := range s {
		if time.Since(f.modTime) < time.Second {
			return false
		}
	}
	return true
}

// readFile returns the text of a file, empty when there is none.
func readFile(path string) (string, error) {
	b, err := os.ReadFile(path)
	switch {
	case err == nil:
		return string(b), nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	}
	reason := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		reason = pe.Err // the path is said already
	}
	return "", &FileError{Path: path, Reason: reason.Error()}
}
