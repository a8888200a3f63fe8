package wslbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// TestBothDirectionsAtOnce lets the pumps share a Rewriter, for the race detector.
func TestBothDirectionsAtOnce(t *testing.T) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
	const rounds = 200
	asked := make(chan int, rounds)
	var pumps sync.WaitGroup
	pumps.Go(func() {
		defer close(asked)
		for i := range rounds {
			folder := fmt.Appendf(nil, `{"id":"n%d","method":"session/new","params":{"cwd":"C:\\w%d","mcpServers":[]}}`, i, i)
			if out, _ := r.Inbound(folder); !bytes.Contains(out, fmt.Appendf(nil, `"/mnt/c/w%d"`, i)) {
				t.Errorf("%s became %s", folder, out)
			}
			r.Inbound(fmt.Appendf(nil, `{"id":%d,"method":"session/list"}`, i))
			asked <- i
		}
	})
	pumps.Go(func() {
		for i := range asked {
			result := fmt.Appendf(nil, `{"id":%d,"result":{"sessions":[{"cwd":"/mnt/c/w%d"}]}}`, i, i)
			if out := r.Outbound(result); !bytes.Contains(out, fmt.Appendf(nil, `"C:\\w%d"`, i)) {
				t.Errorf("%s became %s", result, out)
			}
		}
	})
	pumps.Wait()
}

// TestMemoryIsBounded plays an agent that answers nothing and a client that works in a new folder each
// time.
func TestMemoryIsBounded(t *testing.T) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
	const last = 2 * maxSpelled
	for i := range last + 1 {
		r.Inbound(fmt.Appendf(nil, `{"id":%d,"method":"session/new","params":{"cwd":"\\\\wsl$\\Ubuntu\\w%d"}}`, i, i))
		r.Inbound(fmt.Appendf(nil, `{"id":%d,"method":"session/list"}`, i))
		r.Outbound(fmt.Appendf(nil, `{"method":"fs/read_text_file","params":{"path":"/f%d"}}`, i))
	}
	if len(r.asked) > maxAsked || len(r.spelled) > maxSpelled || len(r.outbound.known.became) > maxMemo {
		t.Errorf("%d requests, %d folders and %d texts are remembered", len(r.asked), len(r.spelled), len(r.outbound.known.became))
	}
	image := `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","uri":"data:image/png;base64,%s"}}}}`
	r.Outbound(fmt.Appendf(nil, image, strings.Repeat("A", 1<<20)))
	for key := range r.outbound.known.became {
		if len(key.text) > maxMemoText {
			t.Errorf("a text of %d bytes is remembered", len(key.text))
		}
	}
	newest := fmt.Appendf(nil, `{"id":%d,"result":{"sessions":[{"cwd":"/w%d"}]}}`, last, last)
	if got := r.Outbound(newest); !bytes.Contains(got, fmt.Appendf(nil, `"\\\\wsl$\\Ubuntu\\w%d"`, last)) {
		t.Errorf("the newest request or folder is forgotten: %s", got)
	}
	r.Outbound(fmt.Appendf(nil, `{"method":"fs/write_text_file","params":{"path":"/x","content":"%s"}}`, strings.Repeat("x", 2*maxSpareBytes)))
	r.Outbound([]byte(`{"method":"fs/read_text_file","params":{"path":"/x"}}`))
	if cap(r.outbound.out) > maxSpareBytes {
		t.Errorf("%d bytes are kept after a long frame", cap(r.outbound.out))
	}
}

// TestMountsAreReadAgain counts how often the mounts are looked at: once more for each path on a drive or
// share that is not mounted.
func TestMountsAreReadAgain(t *testing.T) {
	looks := 0
	mounts := mountsOf("default")
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: func() pathxlate.MountTable { looks++; return mounts() }})
	for _, step := range []struct {
		cwd  string
		want int
	}{{`C:\\w`, 1}, {`Q:\\w`, 2}, {`\\\\srv\\share`, 3}, {`C:w`, 3}, {`D:\\w`, 3}} {
		r.Inbound([]byte(`{"id":1,"method":"session/new","params":{"cwd":"` + step.cwd + `"}}`))
		if looks != step.want {
			t.Errorf("%d looks after %s, want %d", looks, step.cwd, step.want)
		}
	}
}

// TestUnmappedPathIsLoggedOnce: what cannot be mapped stays, with one log line, however often it comes.
func TestUnmappedPathIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	r := NewRewriter(RewriteConfig{Mounts: mountsOf("default"), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	frame := `{"method":"fs/read_text_file","params":{"path":"/home/me/a","text":"secret"}}`
	for range 3 {
		if got := r.Outbound([]byte(frame)); string(got) != frame {
			t.Errorf("%s became %s", frame, got)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 {
		t.Errorf("%d log lines, want 1:\n%s", lines, &log)
	}
	var line struct{ Error string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || !strings.Contains(line.Error, "/home/me/a") || strings.Contains(log.String(), "secret") {
		t.Errorf("log line %s, want one that names the path alone (%v)", &log, err)
	}
}

// TestRefusedRequestIsNotWaitedFor: the agent never sees it, so no result of it will come.
func TestRefusedRequestIsNotWaitedFor(t *testing.T) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
	_, reply := r.Inbound([]byte(`{"id":1,"method":"session/list","params":{"cwd":"Q:\\w"}}`))
	if want := `{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}`; string(reply) != want {
		t.Errorf("reply %s, want %s", reply, want)
	}
	if _, waiting := r.current(); waiting {
		t.Error("the refused request is waited for")
	}
}

func TestPointerOf(t *testing.T) {
	frame := []byte(" {\"a\":[1,{\"b/c\":{\"d~e\":\"x\"}},[\"y\"]], \"\\u0066\" : 7}")
	for _, test := range []struct{ value, want string }{
		{`"x"`, "/a/1/b~1c/d~0e"}, {`"y"`, "/a/2/0"}, {"7", "/f"}, {`["y"]`, "/a/2"}, {`{"a"`, ""},
	} {
		if got := pointerOf(frame, bytes.Index(frame, []byte(test.value))); got != test.want {
			t.Errorf("pointer of %s is %q, want %q", test.value, got, test.want)
		}
	}
}

// After a restart a client asks for the sessions of a folder and looks for exactly that folder in the
// answer, before it has opened any.
func TestListedFolderIsSpelledAsAsked(t *testing.T) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: readMounts})
	out, reply := r.Inbound([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"c:\\Users\\me"}}`))
	if reply != nil || !strings.Contains(string(out), `"cwd":"/mnt/c/Users/me"`) {
		t.Fatalf("inbound %s, reply %s", out, reply)
	}
	got := r.Outbound([]byte(`{"jsonrpc":"2.0","id":1,"result":{"sessions":[{"sessionId":"s","cwd":"/mnt/c/Users/me"}]}}`))
	if want := `"cwd":"c:\\Users\\me"`; !strings.Contains(string(got), want) {
		t.Errorf("outbound %s, want %s in it", got, want)
	}
}
