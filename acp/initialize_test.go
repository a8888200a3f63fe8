//go:build !windows

package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestP38_InitializeAnswersTheOneVersion(t *testing.T) {
	for _, params := range []string{
		`{"protocolVersion":0}`, `{"protocolVersion":1}`, `{"protocolVersion":2}`, `{"protocolVersion":999}`,
		`{"protocolVersion":65535}`, `{"protocolVersion":-1}`, `{"protocolVersion":1.0}`, `{}`,
		`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"clientInfo":{"name":"nested"}}}`,
	} {
		t.Run(params, func(t *testing.T) {
			b := newBench(t)
			result, _ := b.ok("initialize", "%s", params)
			if result["protocolVersion"] != 1.0 {
				t.Errorf("answered version %v", result["protocolVersion"])
			}
			b.newSession()
		})
	}
}

func TestP37_ProtocolVersionMustBeANumber(t *testing.T) {
	b := newBench(t)
	got := b.refused(-32602, "initialize", `{"protocolVersion":"2025-03-26"}`)
	if want := `protocolVersion must be an integer such as 1, not "2025-03-26"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.ok("initialize", `{"protocolVersion":1}`)
}

func TestInitializeResult(t *testing.T) {
	b := newBench(t)
	answer, _ := b.call("initialize", `{"protocolVersion":1,"clientInfo":{"name":"test","version":"0"}}`)
	var got struct {
		AgentInfo   map[string]string
		AuthMethods []map[string]any
	}
	if err := json.Unmarshal(answer.Result, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"name": "hermes-acp", "title": "Hermes", "version": "1.2.3"}, got.AgentInfo); diff != "" {
		t.Error(diff)
	}
	if len(got.AuthMethods) != 1 || got.AuthMethods[0]["id"] != "scripted" || got.AuthMethods[0]["type"] != nil {
		t.Errorf("auth methods %v", got.AuthMethods)
	}
}

func TestAuthMethods(t *testing.T) {
	tests := []struct {
		name, capabilities string
		none               bool
		want               []string
	}{
		{"nothing configured", `{}`, true, []string{"hermes-config"}},
		{"provider", `{}`, false, []string{"scripted"}},
		{"terminal auth", `{"auth":{"terminal":true}}`, true, []string{"hermes-config", "hermes-setup"}},
		{"terminal auth of old", `{"_meta":{"terminal-auth":true}}`, false, []string{"scripted", "hermes-setup with _meta"}},
		{"terminal auth of old, off", `{"_meta":{"terminal-auth":false}}`, false, []string{"scripted"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := connect(t, &script{none: tt.none}, newMemoryStore(), Config{})
			answer, _ := b.call("initialize", `{"protocolVersion":1,"clientCapabilities":%s}`, tt.capabilities)
			var result struct {
				AuthMethods []struct {
					ID   string
					Type string
					Args []string
					Meta map[string]any `json:"_meta"`
				}
			}
			if err := json.Unmarshal(answer.Result, &result); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range result.AuthMethods {
				name := m.ID
				if m.Meta["terminal-auth"] != nil {
					name += " with _meta"
				}
				got = append(got, name)
				if (m.Type == "terminal") != (m.ID == "hermes-setup") {
					t.Errorf("%s has type %q", m.ID, m.Type)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAuthenticate(t *testing.T) {
	b := connect(t, &script{none: true}, newMemoryStore(), Config{SetupCommand: "hermes-acp --setup"})
	for _, got := range []string{
		b.refused(-32000, "authenticate", `{"methodId":"hermes-config"}`),
		b.refused(-32000, "session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd),
	} {
		if !strings.Contains(got, "no model provider is configured") || !strings.Contains(got, "`hermes-acp --setup`") {
			t.Errorf("got %q", got)
		}
	}
	b.script.setNone(false) // a set-up finished in another window
	b.newSession()
	for _, id := range []string{"hermes-config", " Scripted ", "hermes-setup"} {
		if result, _ := b.ok("authenticate", `{"methodId":%q}`, id); len(result) != 0 {
			t.Errorf("%s: result %v", id, result)
		}
	}
	b.refused(-32602, "authenticate", `{"methodId":"magic"}`)
}

func TestUnknownMethods(t *testing.T) {
	b := newBench(t)
	for _, method := range []string{"ping", "session/teleport", "_vendor/thing"} {
		b.refused(-32601, method, `{}`)
	}
	b.notify("session/teleport", `{}`)
	b.ok("initialize", `{"protocolVersion":1}`)
}
