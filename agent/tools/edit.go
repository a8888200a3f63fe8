package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxEditSize bounds the files that are edited: their text, before and after,
// travels to the editor in one message.
const maxEditSize = 10 << 20

var errChanged = errors.New("changed on disk since the edit was proposed; read it again and repeat the edit")

// file is one file as a plan found it.
type file struct {
	path   string // absolute, as the call named it
	target string // path with its links resolved
	shown  string // target as the person knows it
	exists bool
	data   []byte
	text   string
	format textFormat
	style  fileStyle // of a file that is made
	// mode is the file's; for one that is made, the mode to give it, 0 for the
	// usual one.
	mode fs.FileMode
}

// openForEdit reads the file that a call wants to edit or create.
func openForEdit(ws *agent.Workspace, name string) (file, error) {
	path, err := ws.Resolve(name)
	if err != nil {
		return file{}, err
	}
	target, err := agent.ResolveLinks(path)
	if err != nil {
		return file{}, err
	}
	f := file{path: path, target: target, shown: shownPath(ws, target)}
	var info fs.FileInfo
	f.data, info, err = readRegular(target, maxEditSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.style = styleFor(target)
		f.format = f.style.format
		return f, nil
	case err != nil:
		return file{}, fmt.Errorf("edit %s: %w", name, err)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	if f.text, f.format, err = decodeText(f.data); err != nil {
		return file{}, fmt.Errorf("edit %s: it %w (%s)", name, err, byteCount(info.Size()))
	}
	return f, nil
}

// shownPath is target, a resolved path, below a root of the workspace as the
// client spells that root.
func shownPath(ws *agent.Workspace, target string) string {
	for _, root := range ws.Roots() {
		resolved, err := agent.ResolveLinks(root)
		if below, ok := strings.CutPrefix(target, resolved+string(filepath.Separator)); err == nil && ok {
			return filepath.Join(root, below)
		}
	}
	return target
}

// isLink reports whether the call named a symbolic link itself.
func (f file) isLink() bool {
	info, err := os.Lstat(f.path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// change is what an edit makes of one file.
type change struct {
	file
	delete  bool
	newText string
	newData []byte
}

// setText gives the change its text, encoded as the file is.
func (f file) setText(text string) (change, error) {
	text = f.style.apply(text)
	if f.format.bom { // it is written by encode
		text = strings.TrimPrefix(text, "\ufeff")
	}
	data, err := f.format.encode(text)
	if err != nil {
		return change{}, fmt.Errorf("edit %s: %w", f.path, err)
	}
	if len(data) > maxEditSize {
		return change{}, fmt.Errorf("edit %s: the new text %w: %s, at most %s", f.path, errTooLarge, byteCount(int64(len(data))), byteCount(maxEditSize))
	}
	return change{file: f, newText: text, newData: data}, nil
}

// proposals shows changes to the person, one diff a file.
func proposals(tool string, args json.RawMessage, changes []change) []agent.EditProposal {
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.path
	}
	edits := make([]agent.EditProposal, len(changes))
	for i, c := range changes {
		edits[i] = agent.EditProposal{Tool: tool, Path: c.shown, Target: c.target, Paths: paths, Arguments: args}
		if c.exists {
			edits[i].OldText = &c.text
		}
		if !c.delete {
			edits[i].NewText = &c.newText
		}
	}
	return edits
}

func locations(changes []change) []agent.Location {
	var at []agent.Location
	for _, c := range changes {
		at = append(at, agent.Location{Path: c.shown})
	}
	return at
}

// apply makes all changes or none. Its first act is a second look: a file that
// is not what its proposal showed is left alone.
func apply(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if err := c.checkUnchanged(); err != nil {
			return fmt.Errorf("edit %s: %w", c.path, err)
		}
	}
	for i, c := range changes {
		err := context.Cause(ctx)
		if err == nil {
			err = c.write()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("edit %s: %w", c.path, err), undo(changes[:i]))
		}
	}
	return nil
}

func (c change) checkUnchanged() error {
	target, err := agent.ResolveLinks(c.path)
	if err != nil {
		return err
	}
	if target != c.target {
		return fmt.Errorf("it %w", errMoved)
	}
	data, _, err := readRegular(c.target, maxEditSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.exists:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errTooLarge):
		return fmt.Errorf("it %w", errChanged)
	case err != nil:
		return err
	case !c.exists || !bytes.Equal(data, c.data):
		return fmt.Errorf("it %w", errChanged)
	}
	return nil
}

func (c change) write() error {
	if c.delete {
		return removeFile(c.target)
	}
	return writeFile(c.target, c.newData, c.mode)
}

// undo puts back what was written before a later file of the same edit failed.
func undo(done []change) error {
	var errs []error
	for _, c := range done {
		if c.exists {
			errs = append(errs, writeFile(c.target, c.data, c.mode))
		} else {
			errs = append(errs, removeFile(c.target))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the files that were already changed could not be put back: %w", err)
	}
	return nil
}

func removeFile(target string) error {
	root, err := openParent(target)
	if err != nil {
		return err
	}
	defer discardClose(root)
	info, err := root.Lstat(baseOf(target))
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notRegular(info.Mode())
	}
	return root.Remove(baseOf(target))
}

// checkNotFolder refuses a path that has to be a file and is none.
func checkNotFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", path, notRegular(info.Mode()))
	}
	return nil
}
