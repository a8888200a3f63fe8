package tools

import (
	"errors"
	"fmt"
	"strings"
)

// A patch in V4A form stands between `*** Begin Patch` and `*** End Patch`:
//
//	*** Add File: path        every line of the new file behind a +
//	*** Delete File: path
//	*** Move File: from -> to
//	*** Update File: path     with *** Move to: path below it, and hunks:
//	@@ a line of the file     where to look; several narrow it down
//	 context
//	-removed
//	+added
//	*** End of File           the hunk is at the file's end
type filePatch struct {
	action patchAction
	path   string
	moveTo string // for a move, and for an update that moves too
	added  string // the content of a new file
	hunks  []hunk
}

type patchAction string

const (
	addFile    patchAction = "Add"
	updateFile patchAction = "Update"
	deleteFile patchAction = "Delete"
	moveFile   patchAction = "Move"
)

// hunk is one place that changes.
type hunk struct {
	anchors []string // lines of the file above the place, outermost first
	lines   []hunkLine
	atEnd   bool
	// line is where the hunk stands in the patch, for errors.
	line int
}

type hunkLine struct {
	op   byte // ' ', '-' or '+'
	text string
}

// old returns the lines that have to be in the file.
func (h hunk) old() []string {
	var old []string
	for _, l := range h.lines {
		if l.op != '+' {
			old = append(old, l.text)
		}
	}
	return old
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
)

// parseV4A parses a patch. One that does not end is refused: it may have been
// cut short on its way.
func parseV4A(text string) ([]filePatch, error) {
	lines := strings.Split(strings.TrimSpace(toLF(text)), "\n")
	if lines[0] != beginPatch {
		return nil, fmt.Errorf("the patch has to start with %q", beginPatch)
	}
	p := &patchParser{lines: lines, at: 1}
	for !p.done() {
		if p.line() == endPatch {
			return p.finish()
		}
		if strings.TrimSpace(p.line()) == "" {
			p.at++
			continue
		}
		if err := p.file(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the patch does not end with %q; it may be cut short", endPatch)
}

type patchParser struct {
	lines []string
	at    int
	files []filePatch
}

func (p *patchParser) done() bool   { return p.at >= len(p.lines) }
func (p *patchParser) line() string { return p.lines[p.at] }

func (p *patchParser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: "+format, append([]any{p.at + 1}, args...)...)
}

func (p *patchParser) finish() ([]filePatch, error) {
	if p.at+1 < len(p.lines) {
		p.at++
		return nil, p.errorf("there is text after %q", endPatch)
	}
	if len(p.files) == 0 {
		return nil, errors.New("the patch names no files")
	}
	return p.files, nil
}

// header parses `*** Add File: path` and the like.
func header(line string) (action patchAction, path string, ok bool) {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return "", "", false
	}
	name, path, ok := strings.Cut(rest, " File: ")
	switch action = patchAction(name); action {
	case addFile, updateFile, deleteFile, moveFile:
		return action, strings.TrimSpace(path), ok
	}
	return "", "", false
}

func (p *patchParser) file() error {
	action, path, ok := header(p.line())
	if !ok {
		return p.errorf("%q is not the start of a file; that is *** Add File, *** Update File, *** Delete File or *** Move File", p.line())
	}
	if path == "" {
		return p.errorf("there is no path")
	}
	f := filePatch{action: action, path: path}
	var err error
	switch action {
	case addFile:
		p.at++
		err = p.addedLines(&f)
	case updateFile:
		p.at++
		err = p.update(&f)
	case moveFile:
		if f.path, f.moveTo, ok = strings.Cut(path, " -> "); !ok {
			return p.errorf("a move is written `from -> to`")
		}
		p.at++
	case deleteFile:
		p.at++
	}
	p.files = append(p.files, f)
	return err
}

func (p *patchParser) addedLines(f *filePatch) error {
	var b strings.Builder
	for ; !p.done() && !strings.HasPrefix(p.line(), "*** "); p.at++ {
		content, ok := strings.CutPrefix(p.line(), "+")
		if !ok {
			return p.errorf("every line of a new file starts with +")
		}
		b.WriteString(content + "\n")
	}
	f.added = b.String()
	return nil
}

func (p *patchParser) update(f *filePatch) error {
	if !p.done() {
		if to, ok := strings.CutPrefix(p.line(), "*** Move to: "); ok {
			f.moveTo = strings.TrimSpace(to)
			p.at++
		}
	}
	for !p.done() && (p.line() == endOfFile || !strings.HasPrefix(p.line(), "*** ")) {
		h, err := p.hunk()
		if err != nil {
			return err
		}
		f.hunks = append(f.hunks, h)
	}
	if len(f.hunks) == 0 && f.moveTo == "" {
		return p.errorf("the update of %s changes nothing", f.path)
	}
	return nil
}

// hunk parses the lines up to the next @@ that follows changed lines.
func (p *patchParser) hunk() (hunk, error) {
	h := hunk{line: p.at + 1}
	for ; !p.done() && strings.HasPrefix(p.line(), "@@"); p.at++ {
		if anchor := anchorOf(p.line()); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
	}
	for ; !p.done(); p.at++ {
		line := p.line()
		switch {
		case line == endOfFile:
			h.atEnd = true
			p.at++
			return h, h.check(p)
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "*** "):
			return h, h.check(p)
		case strings.HasPrefix(line, `\ No newline`):
		case line == "": // a blank context line whose blank was trimmed
			h.lines = append(h.lines, hunkLine{' ', ""})
		case strings.IndexByte(" -+", line[0]) >= 0:
			h.lines = append(h.lines, hunkLine{line[0], line[1:]})
		default:
			return h, p.errorf("%q starts neither with a blank, - nor +", line)
		}
	}
	return h, h.check(p)
}

// check refuses a hunk that changes nothing.
func (h *hunk) check(p *patchParser) error {
	for _, l := range h.lines {
		if l.op != ' ' {
			return nil
		}
	}
	return p.errorf("the hunk that starts at line %d changes nothing", h.line)
}

// anchorOf returns the line that an @@ line names. Line numbers, as in a unified
// diff, are no place to rely on and are passed over with what follows them.
func anchorOf(line string) string {
	anchor := strings.TrimSpace(strings.TrimPrefix(line, "@@"))
	if strings.HasPrefix(anchor, "-") && strings.Contains(anchor, " @@") {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(anchor, "@@"))
}
