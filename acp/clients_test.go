//go:build !windows

package acp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each editor's own way of speaking, by what captures of real ones show: the
// shape of its ids, what it says it can do, whether it authenticates at once, and
// how it picks an answer to a question.
func TestEveryKnownClientCanEditAFile(t *testing.T) {
	firstAllowed := func(options []option) string {
		for _, o := range options {
			if strings.HasPrefix(o.Kind, "allow_") {
				return o.OptionID
			}
		}
		return ""
	}
	lastOfKind := func(options []option) string {
		byKind := map[string]string{}
		for _, o := range options {
			byKind[o.Kind] = o.OptionID
		}
		return byKind["allow_once"]
	}
	tests := []struct {
		name, initialize string
		id               string // a format for the number of the request
		authenticates    bool
		answer           func([]option) string
	}{
		{
			"Zed", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},` +
				`"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true,"terminal-auth":true}},"clientInfo":{"name":"zed","title":"Preview","version":"1"}}`,
			`"9b1d0c2e-0000-4000-8000-00000000000%d"`, false, firstAllowed,
		},
		{
			"VS Code ACP Client", `{"protocolVersion":1,"clientInfo":{"name":"vscode-acp-client","version":"0.2.0"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}`,
			"%d", false, firstAllowed,
		},
		{
			"CodeCompanion", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}},"clientInfo":{"version":"1.0.0","name":"CodeCompanion.nvim"}}`,
			"%d", true, lastOfKind,
		},
		{
			"Agentic", `{"protocolVersion":1,"clientCapabilities":{"clientInfo":{"version":"0.0.1","name":"Agentic.nvim"},"fs":{"readTextFile":true,"writeTextFile":true},"terminal":false}}`,
			"%d", false, firstAllowed,
		},
		{
			"agent-shell", `{"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell","version":"0.48.1"},"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`,
			"%d", false, firstAllowed,
		},
		{"one that says nothing", `{"protocolVersion":1}`, "%d", false, firstAllowed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, calls(call("c1", "write_file", `{"path":"hello.txt","content":"edited"}`)), says("Done."))
			sent := 0
			ask := func(method, params string) message {
				sent++
				id := fmt.Sprintf(tt.id, sent)
				b.write(fmt.Sprintf(`{"params":%s,"id":%s,"method":%q,"jsonrpc":"2.0"}`, params, id, method))
				for {
					m := b.next()
					if isPermission(m) {
						b.answer(m, tt.answer(m.Params.Options))
					}
					if string(m.ID) == id && m.Method == "" {
						return m
					}
				}
			}
			opened := ask("initialize", tt.initialize)
			if tt.authenticates {
				if m := ask("authenticate", `{"methodId":"scripted"}`); m.Error != nil {
					t.Fatal(m.raw)
				}
			}
			session := decodeResult[struct{ SessionID string }](t, ask("session/new", fmt.Sprintf(`{"mcpServers":[],"cwd":%q}`, b.cwd))).SessionID
			if m := ask("session/prompt", `{"prompt":[{"text":"please edit hello.txt","type":"text"}]}`); m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("a prompt without a session got %s", m.raw)
			}
			done := ask("session/prompt", fmt.Sprintf(`{"prompt":[{"text":"please edit hello.txt","type":"text"}],"sessionId":%q}`, session))
			if got := stopReason(t, done); got != "end_turn" || opened.Error != nil {
				t.Errorf("ended with %q", got)
			}
			if got, err := os.ReadFile(filepath.Join(b.cwd, "hello.txt")); err != nil || string(got) != "edited" {
				t.Errorf("hello.txt holds %q, %v", got, err)
			}
		})
	}
}
