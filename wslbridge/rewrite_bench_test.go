package wslbridge

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkRewrite(b *testing.B) {
	code := strings.Repeat("\tif err := run(ctx, \\\"name\\\", 42); err != nil {\\n\\t\\treturn fmt.Errorf(\\\"run: %w\\\", err)\\n\\t}\\n", 40)
	update := func(update string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"5b2f1e0c-9c39-4c38-9d51-0a4f3e0a6d11","update":` + update + `}}`
	}
	for _, bench := range []struct {
		name    string
		inbound bool
		frame   string
	}{
		{"outbound/text_chunk", false, update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The function returns early when "}}`)},
		{"outbound/text_4MiB", false, update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat(code, 4<<20/len(code)) + `"}}`)},
		{"outbound/raw_output", false, update(`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":{"rows":[` + strings.Repeat(`{"n":1,"name":"alpha","ok":true,"list":[1,2,3]},`, 200) + `0]}}`)},
		{"outbound/location", false, update(`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"in_progress","locations":[{"path":"/home/u/src/project/internal/server/handler.go","line":12}]}`)},
		{"outbound/diff_4KiB", false, update(`{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"edit handler.go","kind":"edit","status":"pending","locations":[{"path":"/home/u/src/project/internal/server/handler.go"}],"content":[{"type":"diff","path":"/home/u/src/project/internal/server/handler.go","oldText":"` + code[:len(code)/2] + `","newText":"` + code + `"}],"rawInput":{"path":"/home/u/src/project/internal/server/handler.go"}}`)},
		{"outbound/diff_4MiB", false, update(`{"sessionUpdate":"tool_call","toolCallId":"call_1","locations":[{"path":"/mnt/c/w/a.go"}],"content":[{"type":"diff","path":"/mnt/c/w/a.go","newText":"` + strings.Repeat(code, 4<<20/len(code)) + `"}]}`)},
		{"inbound/permission_answer", true, `{"jsonrpc":"2.0","id":12,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`},
		{"inbound/prompt_text", true, `{"jsonrpc":"2.0","id":"9b1d0c2e-0000-4000-8000-000000000001","method":"session/prompt","params":{"sessionId":"5b2f1e0c-9c39-4c38-9d51-0a4f3e0a6d11","prompt":[{"type":"text","text":"` + code + `"}]}}`},
		{"inbound/prompt_link", true, `{"jsonrpc":"2.0","id":"9b1d0c2e-0000-4000-8000-000000000001","method":"session/prompt","params":{"sessionId":"5b2f1e0c-9c39-4c38-9d51-0a4f3e0a6d11","prompt":[{"type":"text","text":"Explain "},{"type":"resource_link","name":"handler.go","uri":"file:///c%3A/Users/u/src/project/handler.go"}]}}`},
		{"inbound/image_4MiB", true, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("QUJD", 1<<20) + `"}]}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
			setup := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"\\\\wsl.localhost\\Ubuntu\\home\\u\\src\\project","mcpServers":[]}}`)
			r.Inbound(setup)
			frame := []byte(bench.frame)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if bench.inbound {
					r.Inbound(frame)
				} else {
					r.Outbound(frame)
				}
			}
		})
	}
}

// BenchmarkRewriteManyFiles is a search that names another file in every update, so that nothing
// is remembered.
func BenchmarkRewriteManyFiles(b *testing.B) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
	updates := make([][]byte, 1024)
	for i := range updates {
		updates[i] = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","locations":[{"path":"/home/u/src/project/file_%d.go","line":1}]}}}`, i)
	}
	b.SetBytes(int64(len(bytes.Join(updates, nil)) / len(updates)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Outbound(updates[i%len(updates)])
	}
}
