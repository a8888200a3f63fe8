package tools

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
)

const (
	// maxSearchedFile is the largest file that is searched.
	maxSearchedFile = 16 << 20
	// maxMatches ends a search; what was found until then is shown.
	maxMatches    = 10_000
	maxMatchChars = 300
)

// lineMatch is a line that matches.
type lineMatch struct {
	line int // counted from 1
	text string
}

// lineSearcher finds the lines that hold a pattern. It is safe for concurrent
// use.
type lineSearcher struct {
	literal []byte         // the whole pattern, when it is one
	re      *regexp.Regexp // otherwise, with ^ and $ at line ends
}

// newLineSearcher compiles a pattern in Go's regular expression syntax.
func newLineSearcher(pattern string) (*lineSearcher, error) {
	if pattern == "" {
		return nil, errors.New("pattern is required")
	}
	if regexp.QuoteMeta(pattern) == pattern && !strings.Contains(pattern, "\n") {
		return &lineSearcher{literal: []byte(pattern)}, nil
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, err
	}
	return &lineSearcher{re: re}, nil
}

// next returns the bounds of the next matching line of data, which starts at or
// behind from, a line's start. end excludes the line end.
func (s *lineSearcher) next(data []byte, from int) (start, end int, ok bool) {
	for from < len(data) {
		hit := -1
		if s.re == nil {
			hit = bytes.Index(data[from:], s.literal)
		} else if at := s.re.FindIndex(data[from:]); at != nil {
			hit = at[0]
		}
		if hit < 0 {
			return 0, 0, false
		}
		start = from + bytes.LastIndexByte(data[from:from+hit], '\n') + 1
		end = len(data)
		if i := bytes.IndexByte(data[from+hit:], '\n'); i >= 0 {
			end = from + hit + i
		}
		from = end + 1
		// An expression may have matched across the line's end.
		if line := bytes.TrimSuffix(data[start:end], []byte("\r")); s.re == nil || s.re.Match(line) {
			return start, start + len(line), true
		}
	}
	return 0, 0, false
}

// search returns up to limit matching lines of a file's bytes; none for a
// binary file.
func (s *lineSearcher) search(data []byte, limit int) []lineMatch {
	text := data
	switch head := data[:min(len(data), 8<<10)]; {
	case bytes.HasPrefix(head, []byte(bomUTF16LE)), bytes.HasPrefix(head, []byte(bomUTF16BE)):
		decoded, _, err := decodeText(data)
		if err != nil {
			return nil
		}
		text = []byte(decoded)
	case bytes.IndexByte(head, 0) >= 0:
		return nil
	}
	if s.re != nil && bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // so that $ matches
	}

	var matches []lineMatch
	line, counted := 1, 0
	for from := 0; len(matches) < limit; {
		start, end, ok := s.next(text, from)
		if !ok {
			break
		}
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		matches = append(matches, lineMatch{line, showLine(text[start:end])})
		if from = end + 1; from <= len(text) && end < len(text) && text[end] == '\r' {
			from++
		}
	}
	return matches
}

// showLine makes a line fit for a result.
func showLine(line []byte) string {
	cut := ""
	if len(line) > maxMatchChars {
		line, cut = trimPartialRune(line[:maxMatchChars]), " ..."
	}
	return printable(string(line)) + cut
}

// readForSearch reads a file into buf, which it grows as needed; nil when the
// file is too large, vanished or is not readable.
func readForSearch(path string, buf []byte) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock|openNoFollow, 0)
	if err != nil {
		return nil
	}
	defer discardClose(f)
	data := buf[:0]
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := readWithin(readPatience, f, data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data
		case err != nil, len(data) > maxSearchedFile:
			return nil
		}
	}
}
