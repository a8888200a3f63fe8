//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// transcript is a conversation as text that is the same each time: > for what
// the client wrote, < for the agent. Ids and times get names, keys are sorted,
// pieces of one message are joined, and what comes at no fixed moment is left
// out.
type transcript struct {
	works []string // spellings of the script's folder
	mute  bool
	names map[string]string
	out   strings.Builder
	chunk *chunk // the message that still grows
}

// chunk is a piece of a message.
type chunk struct {
	kind, messageID string
	text            strings.Builder
}

// unordered are updates that no turn waits for, or that count tokens.
var unordered = []string{"available_commands_update", "usage_update", "session_info_update"}

// elided are parts of results that other tests look at; here they would change
// with every capability that is added.
var elided = []string{"_meta", "agentCapabilities", "agentInfo", "authMethods", "modes", "models", "configOptions"}

func newTranscript(works ...string) transcript {
	return transcript{works: works, names: make(map[string]string)}
}

// name gives an id the name it has in the transcript; a second id of that name
// gets a number.
func (t *transcript) name(id, name string) {
	if t.names[id] != "" {
		return
	}
	count := 1
	for _, n := range t.names {
		if strings.HasPrefix(n, name) {
			count++
		}
	}
	if count > 1 {
		name = fmt.Sprint(name, count)
	}
	t.names[id] = name
}

func (t *transcript) sent(line []byte) { t.line(">", line) }

func (t *transcript) received(line []byte) { t.line("<", line) }

func (t *transcript) line(arrow string, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if text := string(line); strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.write(arrow, strconv.Quote(text))
		return
	}
	m, err := decodeObject(line)
	if err != nil {
		t.write(arrow, string(line))
		return
	}
	if t.mute && m["error"] == nil {
		return
	}
	params, _ := m["params"].(map[string]any)
	body, _ := params["update"].(map[string]any)
	kind, _ := body["sessionUpdate"].(string)
	if slices.Contains(unordered, kind) {
		return
	}
	if t.joined(kind, body) {
		return
	}
	delete(m, "jsonrpc")
	if result, ok := m["result"].(map[string]any); ok {
		for _, key := range elided {
			delete(result, key)
		}
	}
	t.write(arrow, encodeText(m))
}

// joined keeps pieces of one message until another line comes.
func (t *transcript) joined(kind string, update map[string]any) bool {
	content, _ := update["content"].(map[string]any)
	text, isText := content["text"].(string)
	if !isText || !strings.HasSuffix(kind, "_chunk") {
		return false
	}
	id, _ := update["messageId"].(string)
	if t.chunk == nil || t.chunk.kind != kind || t.chunk.messageID != id {
		t.flush()
		t.chunk = &chunk{kind: kind, messageID: id}
	}
	t.chunk.text.WriteString(text)
	return true
}

func (t *transcript) flush() {
	if c := t.chunk; c != nil {
		t.chunk = nil
		t.write("<", c.kind+" "+encodeText(c.text.String()))
	}
}

func (t *transcript) write(arrow, text string) {
	t.flush()
	t.out.WriteString(arrow + " " + t.fixed(text) + "\n")
}

// String is the transcript so far.
func (t *transcript) String() string {
	t.flush()
	return t.out.String()
}

// fixed replaces what differs from run to run.
func (t *transcript) fixed(text string) string {
	for _, work := range t.works {
		quoted, _ := json.Marshal(work)
		text = strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), "$WORK")
	}
	// Paths of a client on Windows, inside JSON.
	text = regexp.MustCompile(`\$WORK(\\\\[^\\"]+)+`).ReplaceAllStringFunc(text, func(path string) string {
		return strings.ReplaceAll(path, `\\`, "/")
	})
	for id, name := range t.names {
		text = strings.ReplaceAll(text, id, name)
	}
	// What a person types where they are.
	text = strings.ReplaceAll(text, "`hermes-acp.exe --setup`", "`hermes-acp --setup`")
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(text, "UUID")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`\d+\.\d+ ?s\b`).ReplaceAllString(text, "SECONDS")
}

func decodeObject(line []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var m map[string]any
	err := dec.Decode(&m)
	return m, err
}

func encodeText(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what was decoded from JSON can be encoded
	return strings.TrimSuffix(buf.String(), "\n")
}
