package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultSearchLimit = 50
	maxSearchLimit     = 1000
)

type searchFilesArgs struct {
	Pattern    string  `json:"pattern"`
	Target     string  `json:"target"`
	Path       string  `json:"path"`
	FileGlob   string  `json:"file_glob"`
	Limit      *number `json:"limit"`
	Offset     number  `json:"offset"`
	OutputMode string  `json:"output_mode"`
}

func (t *Toolset) searchFiles() agent.Tool {
	return tool[searchFilesArgs]{agent.ToolSpec{
		Name: "search_files",
		Kind: agent.KindSearch,
		Description: "Search the content of files for a regular expression (RE2 syntax, line by line), or find files by name. " +
			"What .gitignore or .ignore exclude, binary files, files over 16 MiB and sensitive files such as .env and keys are left out.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "description": "content: a regular expression; files: a glob for the name (*.go), or for the path if it holds a slash (cmd/**/*.go)"},
				"target": {"type": "string", "enum": ["content", "files"], "default": "content"},
				"path": {"type": "string", "default": ".", "description": "The folder, or one file, to search"},
				"file_glob": {"type": "string", "description": "content: only files that match this glob"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50, "description": "How many results to show"},
				"offset": {"type": "integer", "minimum": 0, "default": 0, "description": "How many results to pass over"},
				"output_mode": {"type": "string", "enum": ["content", "files_only", "count"], "default": "content", "description": "content: show lines, only the files that match, or how often each does"}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
	}, t.planSearch}
}

// fileSearch is one call, its arguments checked.
type fileSearch struct {
	root      string // resolved
	isFile    bool
	cwd, home string
	glob      string
	lines     *lineSearcher // nil to look at names only
	mode      string
	offset    int
	limit     int

	mu    sync.Mutex
	found []fileMatches
	total int
}

type fileMatches struct {
	path  string
	lines []lineMatch
}

func (t *Toolset) planSearch(_ context.Context, ws *agent.Workspace, args searchFilesArgs, _ json.RawMessage) (agent.Plan, error) {
	path, err := ws.Resolve(args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	target, err := agent.ResolveLinks(path)
	if err != nil {
		return agent.Plan{}, err
	}
	s := &fileSearch{root: target, cwd: ws.Cwd, home: t.opts.Home, glob: args.FileGlob, mode: args.OutputMode, offset: int(args.Offset), limit: defaultSearchLimit}
	if args.Limit != nil {
		s.limit = int(*args.Limit)
	}
	switch {
	case args.Pattern == "":
		return agent.Plan{}, errors.New("pattern is required")
	case s.limit < 1 || s.limit > maxSearchLimit:
		return agent.Plan{}, fmt.Errorf("limit %d: it is between 1 and %d", s.limit, maxSearchLimit)
	case s.offset < 0:
		return agent.Plan{}, fmt.Errorf("offset %d: it is not negative", s.offset)
	case s.mode != "" && s.mode != "content" && s.mode != "files_only" && s.mode != "count":
		return agent.Plan{}, fmt.Errorf("output_mode %q: it is content, files_only or count", s.mode)
	}
	switch args.Target {
	case "", "content":
		if s.lines, err = newLineSearcher(args.Pattern); err != nil {
			return agent.Plan{}, fmt.Errorf("pattern %q: %w", args.Pattern, err)
		}
	case "files":
		s.glob = args.Pattern
	default:
		return agent.Plan{}, fmt.Errorf("target %q: it is content or files", args.Target)
	}
	if s.glob != "" && !doublestar.ValidatePattern(s.glob) {
		return agent.Plan{}, fmt.Errorf("glob %q does not parse", s.glob)
	}
	return agent.Plan{
		Title:     "search_files: " + args.Pattern,
		Locations: []agent.Location{{Path: path}},
		Access:    agent.Access{Reads: []string{path, target}},
		Run:       s.run,
	}, nil
}

func (s *fileSearch) run(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
	if err := checkNotMoved(s.root); err != nil {
		return agent.Result{}, fmt.Errorf("search: %w", err)
	}
	info, err := os.Lstat(s.root)
	if err != nil {
		return agent.Result{}, fmt.Errorf("search: %w", err)
	}
	unreadable := 0
	switch s.isFile = info.Mode().IsRegular(); {
	case s.isFile:
		s.visit(s.root)
	case info.IsDir():
		unreadable = walkFiles(ctx, s.root, s.visit)
	default:
		return agent.Result{}, fmt.Errorf("search %s: it %w", s.root, notRegular(info.Mode()))
	}
	if err := context.Cause(ctx); err != nil {
		return agent.Result{}, err
	}
	slices.SortFunc(s.found, func(a, b fileMatches) int { return cmp.Compare(a.path, b.path) })
	result := s.result()
	if unreadable > 0 {
		result.Text += fmt.Sprintf("\n[%d %s could not be read]", unreadable, plural(unreadable, "folder", "folders"))
	}
	return result, nil
}

// buffers are reused between files: most of them are small.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// visit searches one file. It returns false when there is enough.
func (s *fileSearch) visit(path string) bool {
	if !s.matchesGlob(path) {
		return true
	}
	var lines []lineMatch
	if s.lines != nil {
		buf := buffers.Get().(*[]byte) //nolint:forcetypeassert // only these are in it
		data := readForSearch(path, *buf)
		lines = s.lines.search(data, maxMatches)
		if cap(data) > cap(*buf) {
			*buf = data
		}
		buffers.Put(buf)
		if len(lines) == 0 {
			return true
		}
	}
	if s.isSensitive(path) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, fileMatches{path, lines})
	s.total += max(1, len(lines))
	return s.total < maxMatches
}

func (s *fileSearch) matchesGlob(path string) bool {
	switch {
	case s.glob == "":
		return true
	case strings.Contains(s.glob, "/"):
		return doublestar.MatchUnvalidated(strings.TrimPrefix(s.glob, "./"), filepath.ToSlash(s.below(path)))
	}
	return doublestar.MatchUnvalidated(s.glob, filepath.Base(path))
}

// below is path as seen from the folder that is searched.
func (s *fileSearch) below(path string) string {
	if rest := strings.TrimPrefix(path[len(s.root):], string(filepath.Separator)); rest != "" {
		return rest
	}
	return filepath.Base(path)
}

// isSensitive reports whether a file that was not asked for by itself is
// sensitive. Of a folder that is, leave to search was given.
func (s *fileSearch) isSensitive(path string) bool {
	if s.isFile {
		return false
	}
	if agent.Sensitive(s.root, s.home) {
		path = string(filepath.Separator) + s.below(path)
	}
	return agent.Sensitive(path, s.home)
}

// result shows the page of results that was asked for.
func (s *fileSearch) result() agent.Result {
	if s.total == 0 {
		return agent.Result{Text: "No matches."}
	}
	perFile := s.lines == nil || s.mode == "files_only" || s.mode == "count"
	var b strings.Builder
	var at []agent.Location
	index, shown := 0, 0
	show := func(line string, where agent.Location) {
		if index++; index > s.offset && shown < s.limit {
			shown++
			b.WriteString(line + "\n")
			at = append(at, where)
		}
	}
	for _, f := range s.found {
		name := s.display(f.path)
		switch {
		case perFile && s.mode == "count" && s.lines != nil:
			show(fmt.Sprintf("%s: %d", name, len(f.lines)), agent.Location{Path: f.path})
		case perFile:
			show(name, agent.Location{Path: f.path})
		default:
			for _, m := range f.lines {
				show(fmt.Sprintf("%s:%d: %s", name, m.line, m.text), agent.Location{Path: f.path, Line: m.line})
			}
		}
	}

	counted := fmt.Sprint(s.total)
	if s.total >= maxMatches {
		counted = "more than " + counted
	}
	head := fmt.Sprintf("%s in %d files", counted, len(s.found))
	if s.lines == nil {
		head = counted + " " + plural(s.total, "file", "files")
	}
	if shown < index {
		head += fmt.Sprintf("; %d shown from offset %d on", shown, s.offset)
	}
	return agent.Result{Text: head + "\n" + b.String(), Locations: at}
}

// display is the path as the model should name it: relative to the cwd where it
// is below.
func (s *fileSearch) display(path string) string {
	if rel, err := filepath.Rel(s.cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
