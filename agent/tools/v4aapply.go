package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// applyHunks returns text with the hunks applied. Context lines stay as they are
// in the file; a hunk that fits nowhere, or in more than one place, fails and is
// named.
func applyHunks(text string, hunks []hunk) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	eol := lineEnd(text)
	var places []place
	for i, h := range hunks {
		at, err := h.find(lines)
		if err == nil && slices.ContainsFunc(places, at.overlaps) {
			err = errors.New("it changes lines that another hunk changes")
		}
		if err != nil {
			return "", fmt.Errorf("hunk %d (line %d of the patch): %w", i+1, h.line, err)
		}
		places = append(places, at)
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.first - b.first })

	var b strings.Builder
	next := 0
	for _, at := range places {
		writeLines(&b, lines[next:at.first], eol)
		writeLines(&b, at.hunk.changed(lines[at.first:at.last], endBefore(lines, at.first, eol)), eol)
		next = at.last
	}
	writeLines(&b, lines[next:], eol)
	return b.String(), nil
}

// writeLines writes lines. A line without an end, the last of the file until
// now, gets eol when another one follows.
func writeLines(b *strings.Builder, lines []string, eol string) {
	for _, line := range lines {
		if written := b.String(); written != "" && !strings.HasSuffix(written, "\n") {
			b.WriteString(eol)
		}
		b.WriteString(line)
	}
}

// place is the run of lines that a hunk stands for.
type place struct {
	hunk        hunk
	first, last int // last is the line behind it
}

func (p place) overlaps(q place) bool {
	return p.first < q.last && q.first < p.last || p.first == q.first
}

// find returns the one place of the hunk in lines: where its lines stand exactly,
// the first such place behind an anchor, or else the only one where lines are
// alike.
func (h hunk) find(lines []string) (place, error) {
	from := 0
	for _, anchor := range h.anchors {
		at, err := findAnchor(lines, from, anchor)
		if err != nil {
			return place{}, err
		}
		from = at + 1
	}
	old := h.old()
	if len(old) == 0 {
		at := from
		if len(h.anchors) == 0 || h.atEnd {
			at = len(lines)
		}
		return place{h, at, at}, nil
	}

	found := h.matches(lines, from, old, trimLineEnd)
	if len(found) > 1 && len(h.anchors) > 0 {
		found = found[:1]
	}
	if len(found) == 0 {
		found = h.matches(lines, from, old, alikeLine)
	}
	switch len(found) {
	case 0:
		return place{}, fmt.Errorf("could not find its lines, the first of which is %q", old[0])
	case 1:
		return place{h, found[0], found[0] + len(old)}, nil
	}
	return place{}, fmt.Errorf("%d matches (lines %s); add context, or a line above them behind @@", len(found), oneBased(found))
}

func trimLineEnd(line string) string { return strings.TrimRight(line, "\r\n") }

// matches returns where the old lines stand, compared by what alike makes of
// them.
func (h hunk) matches(lines []string, from int, old []string, alike func(string) string) []int {
	want := make([]string, len(old))
	for i, line := range old {
		want[i] = alike(line)
	}
	if strings.Join(want, "") == "" && len(h.anchors) == 0 && !h.atEnd {
		return nil // blank lines alone are no place
	}
	var found []int
	for i := from; i+len(want) <= len(lines); i++ {
		if h.atEnd && i+len(want) != len(lines) {
			continue
		}
		if slices.EqualFunc(lines[i:i+len(want)], want, func(line, want string) bool { return alike(line) == want }) {
			found = append(found, i)
		}
	}
	return found
}

// findAnchor returns the one line from on that an @@ line names.
func findAnchor(lines []string, from int, anchor string) (int, error) {
	want := alikeLine(anchor)
	var found []int
	for i := from; i < len(lines); i++ {
		if alikeLine(lines[i]) == want {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("could not find the line %q that @@ names", anchor)
	case 1:
		return found[0], nil
	}
	return 0, fmt.Errorf("%d lines (%s) are the one that @@ names: %q", len(found), oneBased(found), anchor)
}

// endBefore returns the end of the line before first, or eol when there is none.
func endBefore(lines []string, first int, eol string) string {
	if first > 0 {
		if _, end := splitLineEnd(lines[first-1]); end != "" {
			return end
		}
	}
	return eol
}

// changed returns what the hunk makes of the lines it stands for. An added line
// ends as the line before it, or as the one whose place it takes: behind the
// file's last line without an end it has one, in its place it has none.
func (h hunk) changed(lines []string, eol string) []string {
	old := h.old()
	var out []string
	next := 0
	removed := "" // the line that was taken out last, until a context line
	for _, l := range h.lines {
		if l.op == '+' {
			out = append(out, reindent(l.text, old, lines)+eol)
			continue
		}
		line := lines[next]
		next++
		if _, end := splitLineEnd(line); end != "" {
			eol = end
		}
		if removed = line; l.op == ' ' {
			removed = ""
			out = append(out, line)
		}
	}
	if added := h.lines[len(h.lines)-1].op == '+'; added && removed != "" && trimLineEnd(removed) == removed {
		out[len(out)-1] = trimLineEnd(out[len(out)-1])
	}
	return out
}
