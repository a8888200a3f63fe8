package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultReadLines = 500
	maxReadLines     = 2000
	maxReadChars     = 100_000
	maxLineChars     = 2000
	// maxWholeRead is the largest file that is read without a range.
	maxWholeRead = 2 << 20
	maxRangeRead = 64 << 20
	maxImageSize = 5 << 20
)

type readFileArgs struct {
	Path   string  `json:"path"`
	Offset *number `json:"offset"`
	Limit  *number `json:"limit"`
}

func (t *Toolset) readFile() agent.Tool {
	return tool[readFileArgs]{agent.ToolSpec{
		Name: "read_file",
		Kind: agent.KindRead,
		Description: "Read a text file, with line numbers (N|line), or look at an image. " +
			"Reads 500 lines from offset on; set offset and limit for others. Lines over 2,000 characters are cut.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "The file, absolute or relative to the working directory"},
				"offset": {"type": "integer", "minimum": 1, "default": 1, "description": "First line to read, counted from 1"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 500, "description": "How many lines to read"}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
	}, t.planRead}
}

func (t *Toolset) planRead(_ context.Context, ws *agent.Workspace, args readFileArgs, _ json.RawMessage) (agent.Plan, error) {
	if args.Path == "" {
		return agent.Plan{}, errors.New("path is required")
	}
	offset, limit := 1, defaultReadLines
	if args.Offset != nil {
		offset = int(*args.Offset)
	}
	if args.Limit != nil {
		limit = int(*args.Limit)
	}
	if offset < 1 {
		return agent.Plan{}, fmt.Errorf("offset %d: lines are counted from 1", offset)
	}
	if limit < 1 || limit > maxReadLines {
		return agent.Plan{}, fmt.Errorf("limit %d: it is between 1 and %d", limit, maxReadLines)
	}
	path, err := ws.Resolve(args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	target, err := agent.ResolveLinks(path)
	if err != nil {
		return agent.Plan{}, err
	}
	if err := checkNotFolder(target); err != nil {
		return agent.Plan{}, fmt.Errorf("read %s: %w", args.Path, err)
	}

	maxSize := int64(maxWholeRead)
	if args.Offset != nil || args.Limit != nil {
		maxSize = maxRangeRead
	}
	line := 0
	if args.Offset != nil {
		line = offset
	}
	return agent.Plan{
		Title:     "read_file: " + args.Path,
		Locations: []agent.Location{{Path: path, Line: line}},
		Access:    agent.Access{Reads: []string{path, target}},
		Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
			data, info, err := readRegular(target, maxSize)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return agent.Result{}, fmt.Errorf("read %s: there is no such file", args.Path)
			case errors.Is(err, errTooLarge) && maxSize == maxWholeRead:
				return agent.Result{}, fmt.Errorf("read %s: the file is %s; read a part of it with offset and limit, or find the place with search_files", args.Path, byteCount(info.Size()))
			case err != nil:
				return agent.Result{}, fmt.Errorf("read %s: %w", args.Path, err)
			}
			t.session(ws).saw(target, data)
			if mime := imageType(data); mime != "" {
				return showImage(args.Path, mime, data)
			}
			text, format, err := decodeText(data)
			if err != nil {
				return agent.Result{}, fmt.Errorf("read %s: it %w (%s), so its content is not shown", args.Path, err, byteCount(info.Size()))
			}
			return agent.Result{Text: numberLines(text, format, offset, limit)}, nil
		},
	}, nil
}

// numberLines writes limit lines from offset on as `N|line`, after a line that
// says what is special about the file and where the rest is.
func numberLines(text string, format textFormat, offset, limit int) string {
	total := countLines(text)
	var b strings.Builder
	if notes := formatNotes(text, format); notes != "" {
		fmt.Fprintf(&b, "[%s]\n", notes)
	}
	if offset > max(total, 1) {
		fmt.Fprintf(&b, "[the file has only %d lines]\n", total)
		return b.String()
	}

	rest := text
	for range offset - 1 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	line := offset
	for ; line < offset+limit && rest != ""; line++ {
		var content string
		content, rest, _ = strings.Cut(rest, "\n")
		content = strings.TrimSuffix(content, "\r")
		if b.Len()+min(len(content), maxLineChars) > maxReadChars {
			break
		}
		fmt.Fprintf(&b, "%d|%s\n", line, cutLine(content))
	}
	if line <= total {
		fmt.Fprintf(&b, "[%d of %d lines; continue with offset %d]\n", line-offset, total, line)
	}
	return b.String()
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// cutLine shortens a line to maxLineChars bytes, at a character's start.
func cutLine(line string) string {
	if len(line) <= maxLineChars {
		return line
	}
	end := maxLineChars
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%s [line cut, %d bytes]", line[:end], len(line))
}

// formatNotes names what an edit of the file will keep and a reader cannot see.
func formatNotes(text string, format textFormat) string {
	var notes []string
	if text == "" {
		notes = append(notes, "the file is empty")
	}
	if s := format.String(); s != "" {
		notes = append(notes, s)
	}
	switch crlf, lf := countLineEnds(text); {
	case crlf > 0 && lf > 0:
		notes = append(notes, "mixed line ends")
	case crlf > 0:
		notes = append(notes, "CRLF line ends")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		notes = append(notes, "no newline at the end")
	}
	return strings.Join(notes, ", ")
}

// imageType returns the MIME type of the images that models can see, else "".
func imageType(data []byte) string {
	head := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && strings.HasSuffix(head, "WEBP"):
		return "image/webp"
	}
	return ""
}

func showImage(name, mime string, data []byte) (agent.Result, error) {
	size := byteCount(int64(len(data)))
	if len(data) > maxImageSize {
		return agent.Result{}, fmt.Errorf("read %s: the image is %s, at most %s can be shown", name, size, byteCount(maxImageSize))
	}
	return agent.Result{
		Text:   fmt.Sprintf("%s: %s, %s", name, mime, size),
		Images: []string{"data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)},
	}, nil
}
