//go:build !windows

package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-acp/hermes-acp/agent"
)

// step is one answer of a scripted model.
type step func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error)

// script is a set of models, of which each request takes the next step. A
// request past the end is answered with "done".
type script struct {
	mu       sync.Mutex
	steps    []step
	requests []agent.ModelRequest
	none     bool // no provider is configured
	noWindow bool // the size of the context window is unknown
}

func (s *script) Model(_ context.Context, id string) (agent.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.none:
		return nil, fmt.Errorf("%w: no key is set", agent.ErrNoProvider)
	case id == "" || id == "big" || id == "small":
		return scriptedModel{s, id}, nil
	default:
		return nil, fmt.Errorf("%q: %w", id, agent.ErrUnknownModel)
	}
}

func (s *script) setNone(none bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.none = none
}

func (s *script) setNoWindow(noWindow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noWindow = noWindow
}

func (s *script) asked() []agent.ModelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

type scriptedModel struct {
	script *script
	id     string
}

func (m scriptedModel) Info() agent.ModelInfo {
	id := m.id
	if id == "" {
		id = "big"
	}
	m.script.mu.Lock()
	defer m.script.mu.Unlock()
	if m.script.noWindow {
		return agent.ModelInfo{ID: id, Provider: "Scripted"}
	}
	return agent.ModelInfo{ID: id, Provider: "Scripted", ContextWindow: 100_000}
}

func (m scriptedModel) Stream(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
	m.script.mu.Lock()
	m.script.requests = append(m.script.requests, req)
	next := says("done")
	if len(m.script.steps) > 0 {
		next, m.script.steps = m.script.steps[0], m.script.steps[1:]
	}
	m.script.mu.Unlock()
	return next(ctx, req, emit)
}

// says streams the words of text.
func says(text string) step {
	return func(_ context.Context, _ agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		for word := range strings.SplitAfterSeq(text, " ") {
			emit(agent.Delta{Text: word})
		}
		return agent.Completion{Message: agent.TextMessage(agent.RoleAssistant, text), Finish: agent.FinishStop}, nil
	}
}

// echoes answers with the person's last words.
func echoes() step {
	return func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		last := req.Messages[len(req.Messages)-1]
		return says("you said "+last.Text())(ctx, req, emit)
	}
}

// fails ends the request with an error.
func fails(err error) step {
	return func(context.Context, agent.ModelRequest, func(agent.Delta)) (agent.Completion, error) {
		return agent.Completion{}, err
	}
}

// calls asks for tools.
func calls(calls ...agent.ToolCall) step {
	return func(context.Context, agent.ModelRequest, func(agent.Delta)) (agent.Completion, error) {
		return agent.Completion{
			Message: agent.Message{Role: agent.RoleAssistant, ToolCalls: slices.Clone(calls)},
			Finish:  agent.FinishToolCalls,
		}, nil
	}
}

func call(id, tool, format string, args ...any) agent.ToolCall {
	return agent.ToolCall{ID: id, Name: tool, Arguments: fmt.Sprintf(format, args...)}
}

// stalls streams one word and then nothing until its ctx ends.
func stalls() step {
	return func(ctx context.Context, _ agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		emit(agent.Delta{Text: "thinking"})
		<-ctx.Done()
		return agent.Completion{Message: agent.TextMessage(agent.RoleAssistant, "thinking")}, context.Cause(ctx)
	}
}

// readTool reads a file, writeTool proposes an edit, runTool runs a command that
// only pretends to.
type (
	readTool  struct{}
	writeTool struct{}
	runTool   struct{}
)

func (readTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "read_file", Kind: agent.KindRead, Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (readTool) Plan(_ context.Context, ws *agent.Workspace, raw json.RawMessage) (agent.Plan, error) {
	path, _, err := fileArguments(ws, raw)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Title:     "read_file: " + filepath.Base(path),
		Locations: []agent.Location{{Path: path, Line: 3}},
		Access:    agent.Access{Reads: []string{path}},
		Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
			text, err := os.ReadFile(path)
			return agent.Result{Text: string(text)}, err
		},
	}, nil
}

func (writeTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "write_file", Kind: agent.KindEdit, Description: "Writes a file.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (writeTool) Plan(_ context.Context, ws *agent.Workspace, raw json.RawMessage) (agent.Plan, error) {
	path, content, err := fileArguments(ws, raw)
	if err != nil {
		return agent.Plan{}, err
	}
	edit := agent.EditProposal{Tool: "write_file", Path: path, Target: path, Paths: []string{path}, NewText: &content, Arguments: raw}
	if old, err := os.ReadFile(path); err == nil {
		text := string(old)
		edit.OldText = &text
	}
	return agent.Plan{
		Title:     "write_file: " + filepath.Base(path),
		Locations: []agent.Location{{Path: path}},
		Access:    agent.Access{Edits: []agent.EditProposal{edit}},
		Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
			return agent.Result{Text: "written"}, os.WriteFile(path, []byte(content), 0o600)
		},
	}, nil
}

func fileArguments(ws *agent.Workspace, raw json.RawMessage) (path, content string, err error) {
	var args struct{ Path, Content string }
	if err := json.Unmarshal(raw, &args); err != nil {
		return "", "", err
	}
	path, err = ws.Resolve(args.Path)
	return path, args.Content, err
}

func (runTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "terminal", Kind: agent.KindExecute, Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object"}`)}
}

// Plan makes a command that prints its line and exits with the code that is its
// last word, or never ends when that is "forever".
func (runTool) Plan(_ context.Context, ws *agent.Workspace, raw json.RawMessage) (agent.Plan, error) {
	var args struct{ Command string }
	if err := json.Unmarshal(raw, &args); err != nil {
		return agent.Plan{}, err
	}
	verdict := agent.VerdictAsk
	if strings.HasPrefix(args.Command, "safe") {
		verdict = agent.VerdictSafe
	}
	return agent.Plan{
		Title:  "terminal: " + args.Command,
		Access: agent.Access{Command: &agent.Command{Line: args.Command, Dir: ws.Cwd, Verdict: verdict, Reason: "runs a command"}},
		Run: func(ctx context.Context, progress func(agent.Progress)) (agent.Result, error) {
			if !strings.Contains(args.Command, "silent") {
				progress(agent.Progress{Output: args.Command + "\n"})
			}
			words := strings.Fields(args.Command)
			code := 0
			switch last := words[len(words)-1]; last {
			case "forever":
				<-ctx.Done()
				return agent.Result{}, context.Cause(ctx)
			case "panic":
				panic("the tool is broken")
			case "false":
				code = 1
			}
			return agent.Result{Text: args.Command + "\n", Failed: code != 0, Exit: &agent.ExitStatus{Code: code}}, nil
		},
	}, nil
}

// fakeServers are MCP servers with one tool each; the one named broken has none.
type fakeServers []agent.ToolServer

func (f fakeServers) Tools(context.Context) (tools []agent.Tool, problems []error) {
	for _, server := range f {
		if server.Name == "broken" {
			problems = append(problems, errors.New("MCP server broken has no tools"))
			continue
		}
		tools = append(tools, serverTool{name: "mcp_" + server.Name + "_ask"})
	}
	return tools, problems
}

func (fakeServers) Close() {}

type serverTool struct {
	runTool
	name string
}

func (s serverTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: s.name, Kind: agent.KindOther, Description: "Asks the server.", Schema: json.RawMessage(`{"type":"object"}`)}
}

// memoryStore is a Store without a disk. What the adapter never reaches is left
// to the nil Store inside.
type memoryStore struct {
	agent.Store
	mu       sync.Mutex
	records  map[string]agent.SessionRecord
	messages map[string][]agent.Message
	created  []string
	tips     map[string]string
}

func newMemoryStore() *memoryStore {
	return &memoryStore{records: map[string]agent.SessionRecord{}, messages: map[string][]agent.Message{}}
}

func (m *memoryStore) CreateSession(_ context.Context, rec agent.SessionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[rec.ID] = rec
	m.created = append(m.created, rec.ID)
	return nil
}

func (m *memoryStore) Session(_ context.Context, id string) (agent.SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, ok := m.records[id]
	if !ok {
		return rec, fmt.Errorf("%s: %w", id, agent.ErrUnknownSession)
	}
	return rec, nil
}

func (m *memoryStore) UpdateSession(_ context.Context, rec agent.SessionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[rec.ID] = rec
	return nil
}

func (m *memoryStore) Messages(_ context.Context, id string) ([]agent.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages[id]), nil
}

func (m *memoryStore) Append(_ context.Context, id string, _ bool, msgs ...agent.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[id] = append(m.messages[id], msgs...)
	return nil
}

func (m *memoryStore) SavePartial(context.Context, string, agent.Message) error { return nil }

func (m *memoryStore) SetTitle(_ context.Context, id, title string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, ok := m.records[id]
	if !ok {
		return "", errors.New("no such row")
	}
	rec.Title = title
	m.records[id] = rec
	return title, nil
}

func (m *memoryStore) Compact(_ context.Context, id string, msgs []agent.Message, _ bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[id] = slices.Clone(msgs)
	return nil
}

func (m *memoryStore) RecordAction(context.Context, agent.Action) error { return nil }

// ListSessions pages through the sessions that hold messages, in the order of
// their creation; its cursor is the last id. It never comes to the page behind
// the cursor "wait".
func (m *memoryStore) ListSessions(ctx context.Context, filter agent.SessionFilter) (agent.SessionPage, error) {
	if filter.Cursor == "wait" {
		<-ctx.Done()
		return agent.SessionPage{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := slices.DeleteFunc(slices.Clone(m.created), func(id string) bool {
		rec, kept := m.records[id]
		return !kept || len(m.messages[id]) == 0 || filter.Cwd != nil && !filter.Cwd(rec.Cwd)
	})
	if filter.Cursor != "" {
		at := slices.Index(ids, filter.Cursor)
		if at < 0 {
			return agent.SessionPage{}, agent.ErrBadCursor
		}
		ids = ids[at+1:]
	}
	var page agent.SessionPage
	for i, id := range ids {
		if i == 2 {
			page.Next = page.Sessions[i-1].ID
			break
		}
		page.Sessions = append(page.Sessions, agent.ListedSession{SessionRecord: m.records[id], Provenance: provenance(id, "")})
	}
	return page, nil
}

func provenance(id, previous string) agent.Provenance {
	return agent.Provenance{SessionID: id, Current: id, Root: id, Kind: agent.KindRoot, Previous: previous}
}

func (m *memoryStore) Provenance(_ context.Context, id, previous string) (agent.Provenance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := provenance(id, previous)
	if tip, rotated := m.tips[id]; rotated {
		p.Current = tip
	}
	return p, nil
}

// rotate makes another Hermes session hold the conversation from now on.
func (m *memoryStore) rotate(id, tip string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tips = map[string]string{id: tip}
}

func (m *memoryStore) EndSession(context.Context, string) error { return nil }

func (m *memoryStore) DeleteSession(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
	delete(m.messages, id)
	return nil
}

func (m *memoryStore) ForkSession(ctx context.Context, from string, rec agent.SessionRecord) error {
	if err := m.CreateSession(ctx, rec); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[rec.ID] = slices.Clone(m.messages[from])
	return nil
}

// counted adds token counts to a step.
func counted(s step) step {
	return func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		answer, err := s(ctx, req, emit)
		answer.Usage = agent.Usage{Input: 123, Output: 45, Reasoning: 7, CachedRead: 11}
		return answer, err
	}
}

// noticed tells the person something before it says "done".
func noticed(text string) step {
	return func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		emit(agent.Delta{Notice: text})
		return says("done")(ctx, req, emit)
	}
}

// ends says half a sentence and stops for a reason.
func ends(finish agent.Finish) step {
	return func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		answer, err := says("half a")(ctx, req, emit)
		answer.Finish = finish
		return answer, err
	}
}
