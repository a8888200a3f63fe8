package wslbridge

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzRewrite checks that no frame makes the bridge panic, that valid JSON stays valid JSON, and that a
// second bridge finds nothing left to do.
func FuzzRewrite(f *testing.F) {
	for _, c := range readConversations(f) {
		for _, turn := range c.turns {
			f.Add(turn.fromClient, []byte(turn.sent))
		}
	}
	f.Fuzz(func(t *testing.T, fromClient bool, frame []byte) {
		config := RewriteConfig{
			Distro: "Ubuntu", Mounts: mountsOf("default"), Drives: map[string]string{"W": `D:\w`}, WSLENV: "A/u",
			LookPath:   func(name string) (string, bool) { return name, name == "npx" },
			ThirdParty: true, Launcher: []string{"hermes-acp.exe", "--agent", "x"},
		}
		if !fromClient {
			checkOutbound(t, config, frame)
			return
		}
		given := bytes.Clone(frame)
		out, reply := NewRewriter(config).Inbound(frame)
		if !bytes.Equal(frame, given) {
			t.Errorf("the frame itself was changed to %q", frame)
		}
		if reply != nil {
			if json.Valid(frame) && !json.Valid(reply) {
				t.Errorf("%q is answered by %q, which is no JSON", frame, reply)
			}
			return
		}
		if json.Valid(frame) && !json.Valid(out) {
			t.Errorf("%q became %q, which is no JSON", frame, out)
		}
		if again, _ := NewRewriter(config).Inbound(out); !bytes.Equal(again, out) {
			t.Errorf("%q became %q, and that %q", frame, out, again)
		}
	})
}

// checkOutbound gives the frame to the client as it is, and as an answer to each request whose result
// has fields.
func checkOutbound(t *testing.T, config RewriteConfig, frame []byte) {
	t.Helper()
	h, ok := readHead(frame)
	for _, m := range agentResults {
		r := NewRewriter(config)
		if ok && h.id.end > 0 {
			r.ask(frame, h, m.shape)
		}
		out := r.Outbound(frame)
		if json.Valid(frame) && !json.Valid(out) {
			t.Errorf("%q became %q, which is no JSON", frame, out)
		}
		if again := r.Outbound(out); !bytes.Equal(again, out) {
			t.Errorf("%q became %q, and that %q", frame, out, again)
		}
	}
}

// FuzzUnquote compares the reading and writing of JSON strings with encoding/json.
func FuzzUnquote(f *testing.F) {
	for _, token := range []string{`""`, `"a"`, `"\u0041\n\/\\\""`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, "\"é\u2028\"", `"\udE00\uD83d"`} {
		f.Add([]byte(token))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		var want string
		if len(token) < 2 || token[0] != '"' || json.Unmarshal(token, &want) != nil || token[len(token)-1] != '"' {
			return
		}
		got := unquote(token)
		if again := string(bytes.ToValidUTF8(got, nil)); len(again) == len(got) && again != want {
			t.Errorf("unquote(%s) = %q, want %q", token, got, want)
		}
		var back string
		if err := json.Unmarshal(quoted(want), &back); err != nil || back != want {
			t.Errorf("quoted(%q) = %s, which is %q: %v", want, quoted(want), back, err)
		}
	})
}
