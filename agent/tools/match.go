package tools

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	errNoMatch   = errors.New("could not find old_string")
	errAmbiguous = errors.New("more than one place matches")
)

// replace puts repl in the place of old in text and returns the new text and the
// number of replacements. CRLF and LF match each other; what is put in gets the
// line ends of its surroundings, and nothing outside the match changes.
//
// The exact text is looked for first. Only where it does not occur, lines that
// are alike count as a match (alikeLine), and only when exactly one place
// matches.
func replace(text, old, repl string, all bool) (string, int, error) {
	if old == "" {
		return "", 0, errors.New("old_string is empty; to create a file use write_file")
	}
	view := toLF(text)
	old = toLF(old)
	starts := occurrences(view, old)
	switch {
	case len(starts) == 0:
		return replaceAlike(text, view, old, repl)
	case len(starts) > 1 && !all:
		return "", 0, fmt.Errorf("%w old_string (lines %s); add lines of context to it, or set replace_all", errAmbiguous, lineNumbers(view, starts))
	}

	var b strings.Builder
	b.Grow(len(text) + len(starts)*max(0, len(repl)-len(old)))
	cursor := newViewCursor(text, view)
	written, n := 0, 0
	end := 0
	for _, start := range starts {
		if start < end {
			continue // overlaps the match before
		}
		end = start + len(old)
		from, to := cursor.seek(start), cursor.seek(end)
		b.WriteString(text[written:from])
		b.WriteString(fitLineEnds(text, from, to, repl))
		written = to
		n++
	}
	b.WriteString(text[written:])
	return b.String(), n, nil
}

// occurrences returns where part starts in text, overlapping ones too.
func occurrences(text, part string) []int {
	var starts []int
	for at := 0; ; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return starts
		}
		starts = append(starts, at+i)
		at += i + 1
	}
}

// viewCursor turns offsets in toLF(text), in ascending order, into offsets in
// text.
type viewCursor struct {
	text     string
	same     bool // there is no CRLF, so the view is the text
	at       int  // offset in text
	viewedAt int  // the same place in the view
}

func newViewCursor(text, view string) viewCursor {
	return viewCursor{text: text, same: len(view) == len(text)}
}

func (c *viewCursor) seek(offset int) int {
	if c.same {
		return offset
	}
	for {
		i := strings.Index(c.text[c.at:], "\r\n")
		if i < 0 || c.viewedAt+i >= offset {
			return c.at + offset - c.viewedAt
		}
		c.at += i + len("\r\n")
		c.viewedAt += i + len("\n")
	}
}

// fitLineEnds gives repl, which replaces text[from:to], the line ends that stand
// there, or else that of the line around it.
func fitLineEnds(text string, from, to int, repl string) string {
	if !strings.Contains(text, "\r\n") {
		return repl
	}
	eol := ""
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
		eol = lineEnd(text[from : from+i+1])
	} else {
		eol = lineEnd(text)
	}
	return keepLineEnds(text[from:to], repl, eol)
}

func lineNumbers(text string, starts []int) string {
	const shown = 8
	var b strings.Builder
	line, at := 1, 0
	for i, start := range starts {
		if i == shown {
			fmt.Fprintf(&b, " and %d more", len(starts)-shown)
			break
		}
		line += strings.Count(text[at:start], "\n")
		at = start
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(line))
	}
	return b.String()
}

// replaceAlike replaces the one run of whole lines that is alike to old.
func replaceAlike(text, view, old, repl string) (string, int, error) {
	oldLines := strings.SplitAfter(old, "\n")
	if oldLines[len(oldLines)-1] == "" {
		oldLines = oldLines[:len(oldLines)-1]
	}
	want := make([]string, len(oldLines))
	for i, line := range oldLines {
		want[i] = alikeLine(line)
	}
	if strings.Join(want, "") == "" {
		return "", 0, errNoMatch
	}
	lines := strings.SplitAfter(view, "\n")
	found := alikeRuns(lines, want)
	switch len(found) {
	case 0:
		return "", 0, errNoMatch
	case 1:
	default:
		return "", 0, fmt.Errorf("%w old_string, none of them exactly (lines %s); read the file and copy the text", errAmbiguous, oneBased(found))
	}

	first, last := found[0], found[0]+len(want)
	start := len(strings.Join(lines[:first], ""))
	matched := strings.Join(lines[first:last], "")
	repl = reindent(toLF(repl), oldLines, lines[first:last])
	if !strings.HasSuffix(old, "\n") {
		matched = strings.TrimSuffix(matched, "\n")
	}
	cursor := newViewCursor(text, view)
	from, to := cursor.seek(start), cursor.seek(start+len(matched))
	return text[:from] + fitLineEnds(text, from, to, repl) + text[to:], 1, nil
}

// alikeRuns returns the indexes in lines at which a run alike to want starts.
func alikeRuns(lines, want []string) []int {
	alike := make([]string, len(lines))
	for i, line := range lines {
		alike[i] = alikeLine(line)
	}
	var found []int
	for i := 0; i+len(want) <= len(lines); i++ {
		if slices.Equal(alike[i:i+len(want)], want) {
			found = append(found, i)
		}
	}
	return found
}

func oneBased(indexes []int) string {
	numbers := make([]string, len(indexes))
	for i, index := range indexes {
		numbers[i] = strconv.Itoa(index + 1)
	}
	return strings.Join(numbers, ", ")
}

// alikeLine is what two lines have in common that a model may confuse: it has
// no white space at its ends, single blanks for runs of white space, and plain
// quotes, dashes and blanks for typographic ones.
func alikeLine(line string) string {
	return strings.Join(strings.Fields(typographic.Replace(line)), " ")
}

// reindent moves repl from the indentation that the model saw to the one that
// stands in the file: oldLines and fileLines are the same lines in both. An
// indentation that is in none of them keeps what it has beyond the nearest one.
func reindent(repl string, oldLines, fileLines []string) string {
	moved := map[string]string{}
	for i, line := range oldLines {
		if from := indentOf(line); strings.TrimSpace(line) != "" {
			if _, known := moved[from]; !known {
				moved[from] = indentOf(fileLines[i])
			}
		}
	}
	lines := strings.SplitAfter(repl, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		indent := indentOf(line)
		for n := len(indent); n >= 0; n-- {
			if to, known := moved[indent[:n]]; known {
				lines[i] = to + line[n:]
				break
			}
		}
	}
	return strings.Join(lines, "")
}

func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// typographic maps what models and word processors write for plain characters.
var typographic = strings.NewReplacer(
	"‘", "'", "’", "'", "‚", "'", "“", `"`, "”", `"`, "„", `"`,
	"‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-", "…", "...",
	"\u00a0", " ", "\u202f", " ", "\u2009", " ",
)
