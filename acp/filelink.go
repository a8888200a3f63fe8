package acp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

// fileLink is an attached file that the client named but did not send.
type fileLink struct {
	attachment
	path  string
	lines lineRange
}

// maxScanned is how far into a file its lines are counted, in bytes.
const maxScanned = 64 << 20

// lineRange is a part of a file, 1-based and inclusive; the zero value is the
// whole file.
type lineRange struct{ first, last int }

// filePath returns the file that a URI names on this machine, and which of its
// lines. Absolute paths without a scheme count too.
func filePath(uri string) (path string, lines lineRange, ok bool) {
	if filepath.IsAbs(uri) {
		return uri, lineRange{}, true
	}
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || !filepath.IsAbs(u.Path) {
		return "", lineRange{}, false
	}
	if u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return "", lineRange{}, false
	}
	return u.Path, parseLines(u.Fragment), true
}

// parseLines reads a fragment as editors write it: L15, L15-21, L15-L21,
// L15:21. Any other fragment means the whole file.
func parseLines(fragment string) lineRange {
	rest, ok := strings.CutPrefix(fragment, "L")
	if !ok {
		return lineRange{}
	}
	from, to, isRange := strings.Cut(strings.ReplaceAll(rest, ":", "-"), "-")
	first, err := strconv.Atoi(from)
	if err != nil || first < 1 {
		return lineRange{}
	}
	if !isRange {
		return lineRange{first, first}
	}
	last, err := strconv.Atoi(strings.TrimPrefix(to, "L"))
	if err != nil || last < first {
		return lineRange{}
	}
	return lineRange{first, last}
}

// read shows the file to the model, or says why it cannot be shown.
func (l fileLink) read(ctx context.Context, open agent.OpenAttachment) []agent.Part {
	parts, err := l.tryRead(ctx, open)
	if err != nil {
		return l.text("", fmt.Sprintf("[The file could not be attached: %v]", err))
	}
	return parts
}

func (l fileLink) tryRead(ctx context.Context, open agent.OpenAttachment) ([]agent.Part, error) {
	file, err := open(ctx, l.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if l.lines != (lineRange{}) {
		text, err := l.lines.cut(file)
		return l.text(fmt.Sprintf("lines %d-%d", l.lines.first, l.lines.last), text), err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxAttachment))
	return l.parts(data, info.Size()), err
}

// cut reads the lines of the range, at most maxAttachment bytes of them.
func (r lineRange) cut(file io.Reader) (string, error) {
	in := bufio.NewReader(io.LimitReader(file, maxScanned))
	var text []byte
	for n := 1; n <= r.last && len(text) <= maxAttachment; n++ {
		line, err := in.ReadBytes('\n')
		if n >= r.first {
			text = append(text, line...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	cut := len(text) > maxAttachment
	return decodeText(text[:min(len(text), maxAttachment)], cut), nil
}
