package acptest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opened is the start of a conversation: session s exists, prompt 3 is open and
// call c announced.
const opened = `
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}
> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"read_file: a"}}}
`

// ended closes what opened begins.
const ended = `
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
`

func update(body string) string {
	return `
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + body + `}}}
`
}

func replay(t *testing.T, c *Checker, dialogue string) {
	t.Helper()
	for line := range strings.Lines(dialogue) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "> "):
			c.ClientLine([]byte(line[2:]))
		case strings.HasPrefix(line, "< "):
			c.AgentLine([]byte(line[2:]))
		case line != "":
			t.Fatalf("a line of a dialogue begins with neither > nor <: %s", line)
		}
	}
}

// Whatever both sides write, the checker reports and goes on.
func FuzzChecker(f *testing.F) {
	f.Add(opened + ended)
	f.Add(`> {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
> {"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s"}}
> {"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}
< {"jsonrpc":"2.0","id":3,"result":{}}
< {"jsonrpc":"2.0","id":2,"result":{}}
< {"jsonrpc":"2.0","id":1,"result":{}}`)
	f.Fuzz(func(t *testing.T, dialogue string) {
		c := NewChecker(SDKSchema(t))
		for line := range strings.Lines(dialogue) {
			if client, ok := strings.CutPrefix(line, "> "); ok {
				c.ClientLine([]byte(client))
			} else {
				c.AgentLine([]byte(strings.TrimPrefix(line, "< ")))
			}
		}
		c.Closed()
	})
}

func TestChecker(t *testing.T) {
	chunk := update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}`)
	ask := `
< {"jsonrpc":"2.0","id":"p1","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Allow","kind":"allow_once"}]}}
`
	load := `
> {"jsonrpc":"2.0","id":4,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
`
	loaded := `
< {"jsonrpc":"2.0","id":4,"result":{}}
`
	tests := []struct {
		name     string
		dialogue string
		want     []string // a piece of each violation
	}{
		{"a whole turn", opened + chunk + ended, nil},
		{"permission answered", opened + ask + `
> {"jsonrpc":"2.0","id":"p1","result":{"outcome":{"outcome":"cancelled"}}}` + ended, nil},
		{"permission withdrawn", opened + ask + `
< {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p1"}}` + ended, nil},
		{"replay", opened + ended + load + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"completed"`) + loaded, nil},
		{"replay of a running session", opened + load + loaded + ended, nil},
		{"bad line", opened + ended + `
> {"jsonrpc"
< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, nil},
		{"request with id null", opened + ended + `
> {"jsonrpc":"2.0","id":null,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no id"}}`, nil},
		{"slash command during a turn", opened + `
> {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"/queue more"}]}}
< {"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}` + ended, nil},
		{"queued prompt cancelled during a turn", opened + `
> {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"more"}]}}
< {"jsonrpc":"2.0","id":4,"result":{"stopReason":"cancelled"}}` + ended, nil},
		{"older model state", `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","models":{}}}`, nil},

		{"not JSON", "< Welcome to Ubuntu\n", []string{"no JSON-RPC message"}},
		{"no version", `< {"id":1,"result":{}}`, []string{`lacks "jsonrpc"`, "no open request"}},
		{"null id unasked", `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, []string{"no open request"}},
		{"answered twice", opened + ended + `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`, []string{"no open request"}},
		{"result and error", opened + `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"m"}}`, []string{"exactly one", "no end"}},
		{"id spelled anew", opened + ended + `
> {"jsonrpc":"2.0","id":5.0,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":5,"result":{"sessions":[]}}`, []string{"no open request", "session/list with id 5.0 was never answered"}},
		{"shape of a result", opened + ended + `
> {"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":5,"result":{"sessions":null}}`, []string{"/sessions: is null"}},
		{"key of our own", opened + ended + `
> {"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":5,"result":{"sessions":[],"total":1}}`, []string{`key "total"`}},
		{"error without code", opened + `
> {"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":5,"error":{"message":"m"}}` + ended, []string{"lacks code"}},
		{"unknown method", `< {"jsonrpc":"2.0","method":"session/shout","params":{}}`, []string{"known to no schema", "request or a notification"}},
		{"unknown update", opened + update(`"sessionUpdate":"shout"`) + ended, []string{"known to no schema"}},
		{"fs without leave", opened + `
< {"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}
> {"jsonrpc":"2.0","id":9,"result":{"content":""}}` + ended, []string{"did not advertise"}},

		{"unknown session", opened + `
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"z","update":{"sessionUpdate":"plan","entries":[]}}}` + ended, []string{`session "z"`}},
		{"before the session's response", `
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + update(`"sessionUpdate":"available_commands_update","availableCommands":[]`) + `
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`, []string{`session "s"`}},
		{"after the turn", opened + ended + chunk, []string{"no prompt of it is open"}},
		{"two ends", opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"`) + ended, []string{"after its end"}},
		{"no end", opened + `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`, []string{"tool call c had no end"}},
		{"update of no call", opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"d","title":"t"`) + ended, []string{"before it was announced"}},
		{"announced twice", opened + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t"`) + ended, []string{"announced twice"}},
		{"replayed call left open", opened + ended + load + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t"`) + loaded, []string{"session/load was answered"}},
		{"relative path", opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"a.go"}],"content":[{"type":"diff","path":"b.go","newText":""}]`) + ended, []string{`"a.go"`, `"b.go"`}},

		{"permission for no call", opened + strings.Replace(ask, `"c"`, `"d"`, 1) + `
> {"jsonrpc":"2.0","id":"p1","result":{"outcome":{"outcome":"cancelled"}}}` + ended, []string{`tool call "d", which is not open`}},
		{"permission after the turn", opened + ended + ask, []string{"while no prompt of it is open"}},
		{"permission left open", opened + ask + ended, []string{"neither answered nor withdrawn"}},
		{"id of an open question", opened + ask + ask + `
> {"jsonrpc":"2.0","id":"p1","result":{"outcome":{"outcome":"cancelled"}}}` + ended, []string{"reuses the id"}},
		{"options that look alike", opened + strings.Replace(ask, `"options":[`, `"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},`, 1) + `
> {"jsonrpc":"2.0","id":"p1","result":{"outcome":{"outcome":"cancelled"}}}` + ended, []string{"offers the id", "offers allow_once twice"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewChecker(SDKSchema(t))
			replay(t, c, tt.dialogue)
			c.Closed()
			got := c.Violations()
			if len(got) != len(tt.want) {
				t.Fatalf("violations differ (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got %q, want it to say %q", got[i], want)
				}
			}
		})
	}
}
