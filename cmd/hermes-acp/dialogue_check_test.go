//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// dialogueCase is a dialogue that checks what it hears. Its script is a txtar
// archive: the dialogue is the text before the first file, the files are the
// answers of the model (see llmtest).
type dialogueCase struct {
	name, script string
}

func playCases(t *testing.T, l lane, cases []dialogueCase) {
	t.Helper()
	seen := make(map[string]bool)
	for _, c := range cases {
		if seen[c.name] {
			t.Errorf("two cases are named %s", c.name)
		}
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			playCase(t, l, c.script, nil)
		})
	}
}

// playCase plays one case with a model, a home and temporary files of its own.
// $SELF is this test binary and $MODEL the model's URL; names holds further ones,
// with their $.
func playCase(t *testing.T, l lane, script string, names map[string]string) {
	t.Helper()
	model := llmtest.Start(t, script)
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(work, "home")
	for _, dir := range []string{"ws", "tmp", "elsewhere"} {
		if err := os.Mkdir(filepath.Join(work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := append(agentEnv(t, model.URL), "HOME="+home, "HERMES_HOME="+filepath.Join(home, ".hermes"), "TMPDIR="+filepath.Join(work, "tmp"))
	d := newDialogue(&scriptState{tb: t, lane: l, program: builtProgram(t), model: model}, work, env)
	maps.Copy(d.kept, names)
	d.kept["$SELF"], d.kept["$MODEL"] = self, model.URL
	if err := d.play(string(txtar.Parse([]byte(script)).Comment)); err != nil {
		t.Fatalf("%v\n%s", err, d.String())
	}
}

// heard is what came from the agent since the client last wrote a request while
// none was open.
type heard struct{ lines [][]byte }

// check is a line of a dialogue that says what must have come:
//
//	expect POINTER VALUE       in the last response
//	update KIND POINTER VALUE  in some session/update of that kind; absent in all
//	question POINTER VALUE     in the last permission request
//	asked POINTER VALUE        in the last request to the model
//	distinct KIND POINTER N    in the updates of that kind, N different values
//	text VALUE                 all pieces of the agent's messages together
//	order LABEL ...            all lines in that order: kinds of updates, behind a
//	                           colon the new status of a tool call, question or
//	                           response; without pieces of the message that the
//	                           line before belongs to, and without what comes at
//	                           no fixed moment
//	never TEXT                 no line holds TEXT
//	file NAME VALUE            a file in $WORK holds the text VALUE
//	keep NAME POINTER          $NAME is the text there in the last response, or, for
//	                           a NAME that begins with ASK, the last permission request
//
// POINTER leads into the message (see at), for an update into its update. VALUE is
// JSON that one of the places must equal, or absent, or present, or has and a part
// of the text there, or like and a regular expression for it, or unlike and one
// that none of the places fits.
func (d *dialogue) check(verb, rest string) error {
	rest = d.expand(rest)
	switch verb {
	case "expect":
		return checkPlace(d.heard.last(isResponse), rest)
	case "question":
		return checkPlace(d.heard.last(isQuestion), rest)
	case "asked":
		return d.checkAsked(rest)
	case "update":
		kind, place, _ := strings.Cut(rest, " ")
		return d.heard.checkUpdate(kind, place)
	case "distinct":
		return d.heard.checkDistinct(rest)
	case "text":
		return matches([]any{d.heard.text()}, rest)
	case "order":
		if got := strings.Join(d.heard.labels(), " "); got != rest {
			return fmt.Errorf("there came: %s", got)
		}
		return nil
	case "never":
		for _, line := range d.heard.lines {
			if bytes.Contains(line, []byte(rest)) {
				return fmt.Errorf("there came %s", line)
			}
		}
		return nil
	case "file":
		name, value, _ := strings.Cut(rest, " ")
		data, err := os.ReadFile(filepath.Join(d.work, name))
		if errors.Is(err, os.ErrNotExist) {
			return matches(nil, value)
		}
		return errors.Join(err, matches([]any{string(data)}, value))
	case "keep":
		return d.keep(rest)
	}
	return errors.New("no such verb")
}

func (d *dialogue) checkAsked(place string) error {
	requests := d.state.model.Requests()
	if len(requests) == 0 {
		return errors.New("the model was not asked")
	}
	return checkPlace(requests[len(requests)-1].Body, place)
}

func (d *dialogue) keep(rest string) error {
	name, pointer, _ := strings.Cut(rest, " ")
	line := d.heard.last(isResponse)
	if strings.HasPrefix(name, "ASK") {
		line = d.heard.last(isQuestion)
	}
	message, err := decodeAny(line)
	if err != nil {
		return err
	}
	found := at(message, pointer)
	if len(found) != 1 {
		return fmt.Errorf("%d places in %s", len(found), line)
	}
	d.kept["$"+name] = plainText(found[0])
	return nil
}

func (h *heard) last(is func(line []byte) bool) []byte {
	for _, line := range slices.Backward(h.lines) {
		if is(line) {
			return line
		}
	}
	return []byte("null")
}

// incoming is what tells the agent's lines apart.
type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Update json.RawMessage `json:"update"`
	} `json:"params"`
}

// updateHead is what all updates and tool calls have.
type updateHead struct {
	Kind      string `json:"sessionUpdate"`
	Status    string `json:"status"`
	MessageID string `json:"messageId"`
	Content   any    `json:"content"`
}

func parseIncoming(line []byte) (m incoming, update updateHead) {
	_ = json.Unmarshal(line, &m) // the checker reports what is no message
	_ = json.Unmarshal(m.Params.Update, &update)
	return m, update
}

func isResponse(line []byte) bool {
	m, _ := parseIncoming(line)
	return m.Method == ""
}

func isQuestion(line []byte) bool {
	m, _ := parseIncoming(line)
	return m.Method == "session/request_permission"
}

// inUpdates returns what is at a place in the updates of a kind.
func (h *heard) inUpdates(kind, pointer string) (found []any, err error) {
	for _, line := range h.lines {
		m, update := parseIncoming(line)
		if update.Kind != kind {
			continue
		}
		body, err := decodeAny(m.Params.Update)
		if err != nil {
			return nil, err
		}
		found = append(found, at(body, pointer)...)
	}
	return found, nil
}

func (h *heard) checkUpdate(kind, place string) error {
	pointer, want, _ := strings.Cut(place, " ")
	found, err := h.inUpdates(kind, pointer)
	return errors.Join(err, matches(found, want))
}

func (h *heard) checkDistinct(rest string) error {
	var kind, pointer string
	var want int
	if _, err := fmt.Sscan(rest, &kind, &pointer, &want); err != nil {
		return err
	}
	found, err := h.inUpdates(kind, pointer)
	if err != nil {
		return err
	}
	values := make(map[string]bool)
	for _, v := range found {
		values[encodeText(v)] = true
	}
	if len(values) != want {
		return fmt.Errorf("there are %d: %v", len(values), slices.Sorted(maps.Keys(values)))
	}
	return nil
}

func (h *heard) text() string {
	var text strings.Builder
	for _, line := range h.lines {
		if _, update := parseIncoming(line); update.Kind == "agent_message_chunk" {
			content, _ := update.Content.(map[string]any)
			piece, _ := content["text"].(string)
			text.WriteString(piece)
		}
	}
	return text.String()
}

func (h *heard) labels() []string {
	var labels []string
	message := ""
	for _, line := range h.lines {
		m, update := parseIncoming(line)
		label := update.Kind
		switch {
		case m.Method == "":
			label = "response"
		case m.Method == "session/request_permission":
			label = "question"
		case m.Method != "session/update":
			label = m.Method
		case update.Status != "":
			label += ":" + update.Status
		}
		if slices.Contains(unordered, label) || label == "config_option_update" || message != "" && message == update.MessageID {
			continue
		}
		message = update.MessageID
		labels = append(labels, label)
	}
	return labels
}
