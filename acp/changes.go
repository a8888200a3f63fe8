package acp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxOriginals bounds how many bytes of original files are kept for /diff.
const maxOriginals = 8 << 20

// changes remembers how the files that a session's edits changed looked before
// the first of them, as long as the process lives.
type changes struct {
	mu    sync.Mutex
	files []changedFile
	size  int
}

type changedFile struct {
	path    string
	old     *string // nil: the file did not exist
	dropped bool    // old was too large to keep
}

func (c *changes) add(edits []agent.EditProposal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, edit := range edits {
		if c.knows(edit.Path) {
			continue
		}
		f := changedFile{path: edit.Path, old: edit.OldText}
		if f.old != nil {
			if c.size += len(*f.old); c.size > maxOriginals {
				c.size -= len(*f.old)
				f.old, f.dropped = nil, true
			}
		}
		c.files = append(c.files, f)
	}
}

func (c *changes) knows(path string) bool {
	for _, f := range c.files {
		if f.path == path {
			return true
		}
	}
	return false
}

// diff compares the originals with what is on disk now, as one unified diff in
// a code block.
func (c *changes) diff() string {
	c.mu.Lock()
	files := c.files
	c.mu.Unlock()
	var text strings.Builder
	for _, f := range files {
		text.WriteString(f.diff())
	}
	if text.Len() == 0 {
		return "This session has changed no files since the agent started."
	}
	return fenced(text.String())
}

// readRegular reads a file. What is there now need not be one: a FIFO would hold
// the read until somebody writes.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file any more")
	}
	return os.ReadFile(path)
}

func (f changedFile) diff() string {
	if f.dropped {
		return fmt.Sprintf("%s: changed; too large to compare\n", f.path)
	}
	now, err := readRegular(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s: %v\n", f.path, err)
	}
	oldName, newName, old := f.path, f.path, ""
	if f.old == nil {
		oldName = os.DevNull
	} else {
		old = *f.old
	}
	if err != nil {
		newName = os.DevNull
	}
	return udiff.Unified(oldName, newName, old, strings.ToValidUTF8(string(now), "\uFFFD"))
}
