package acptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func decodeValue(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaChecksTheProtocolsShapes(t *testing.T) {
	schema := SDKSchema(t)
	update := schema.params[endpoint{"client", "session/update"}]
	prompted := schema.results[endpoint{"agent", "session/prompt"}]
	initialized := schema.results[endpoint{"agent", "initialize"}]
	tests := []struct {
		name  string
		rule  *rule
		value string
		want  string // "" when valid, else the whole mismatch
	}{
		{"text chunk", update, `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}`, ""},
		{"chunk without text", update, `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}}`, "/update/content: lacks text"},
		{"update without session", update, `{"update":{"sessionUpdate":"plan","entries":[]}}`, "/: lacks sessionId"},
		{"entries null", update, `{"sessionId":"s","update":{"sessionUpdate":"plan","entries":null}}`, "/update/entries: is null, want array"},
		{"diff of a new file", update, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"}]}}`, ""},
		{"negative line", update, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","locations":[{"path":"/a","line":-1}]}}`, "/update/locations/0/line: is -1, less than 0"},
		{"unknown status", update, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"cancelled"}}`, `/update/status: is "cancelled", want pending`},
		{"end of a turn", prompted, `{"stopReason":"end_turn"}`, ""},
		{"stop reason of no kind", prompted, `{"stopReason":"stop"}`, `/stopReason: is "stop", want end_turn`},
		{"version", initialized, `{"protocolVersion":1}`, ""},
		{"version out of range", initialized, `{"protocolVersion":65536}`, "/protocolVersion: is 65536, more than 65535"},
		{"version as a date", initialized, `{"protocolVersion":"2025-01-01"}`, `/protocolVersion: is "2025-01-01", want integer`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if m := schema.check(tt.rule, decodeValue(t, tt.value), nil); m != nil {
				got = m.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSchemaRefusesKeywordsItDoesNotCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	text := `{"$defs":{"A":{"type":"object","patternProperties":{}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LoadSchema(path)
	if err == nil || !strings.Contains(err.Error(), "patternProperties") {
		t.Errorf("got %v, want an error that names patternProperties", err)
	}
}
