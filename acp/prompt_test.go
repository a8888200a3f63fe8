//go:build !windows

package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestP02_PlainTurn(t *testing.T) {
	b := newBench(t, says("Hello dear world."))
	session := b.newSession()
	stop, updates := b.turn(session, "hi")
	if stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	if got := texts(updates, "agent_message_chunk"); got != "Hello dear world." {
		t.Errorf("P25: the text was %q", got)
	}
	if got := texts(updates, "user_message_chunk"); got != "" {
		t.Errorf("P26: the prompt came back as %q", got)
	}
	ids := map[any]bool{}
	for _, m := range updates {
		if m.update() == "agent_message_chunk" {
			ids[m.Params.Update["messageId"]] = true
		}
	}
	if len(ids) != 1 || ids[nil] {
		t.Errorf("message ids %v", ids)
	}
}

func TestBadPrompts(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	tests := []struct{ name, params, want string }{
		{"no session", `{"prompt":[]}`, "sessionId is required"},
		{"no prompt", `{"sessionId":"` + session + `"}`, "prompt is required"},
		{
			"unknown content", `{"sessionId":"` + session + `","prompt":[{"type":"text","text":"a"},{"type":"video","data":""}]}`,
			`prompt block 2: type "video" is not supported (text, image, resource_link and resource are)`,
		},
		{"block of a wrong kind", `{"sessionId":"` + session + `","prompt":[7]}`, "prompt block 1: must be an object"},
		{
			"text of a wrong kind", `{"sessionId":"` + session + `","prompt":[{"type":"text","text":{}}]}`,
			"prompt block 1: text must not be a JSON object",
		},
		{
			"resource without content", `{"sessionId":"` + session + `","prompt":[{"type":"resource","resource":{"uri":"file:///a"}}]}`,
			"prompt block 1: a resource needs text or blob",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := b.refused(-32602, "session/prompt", "%s", tt.params); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEmptyPromptEndsItsTurn(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	result, _ := b.ok("session/prompt", `{"sessionId":%q,"prompt":[]}`, session)
	if result["stopReason"] != "end_turn" || len(b.script.asked()) != 0 {
		t.Errorf("%v, %d model requests", result, len(b.script.asked()))
	}
}

func TestFailedTurnIsAnErrorThatNamesTheCause(t *testing.T) {
	b := newBench(t, fails(errors.New("the provider refused the key")), says("Better now."))
	session := b.newSession()
	answer := b.until(responseTo(b.prompt(session, "hi")))
	e := answer[len(answer)-1].Error
	if e == nil || e.Code != -32603 || !strings.Contains(e.Message, "the provider refused the key") {
		t.Fatalf("answered %s", answer[len(answer)-1].raw)
	}
	if stop, _ := b.turn(session, "again"); stop != "end_turn" {
		t.Errorf("the next turn ended with %q", stop)
	}
}

func TestP01_CancelledTurnAnswersCancelled(t *testing.T) {
	for name, first := range map[string]step{
		"while the model streams": stalls(),
		"while a tool runs":       calls(call("c1", "terminal", `{"command":"safe forever"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, first, says("next"))
			session := b.newSession()
			id := b.prompt(session, "go")
			b.until(func(m message) bool { return m.text() == "thinking" || m.Params.Update["status"] == "in_progress" })
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			read := b.until(responseTo(id))
			if got := stopReason(t, read[len(read)-1]); got != "cancelled" {
				t.Errorf("stop reason %q", got)
			}
			if strings.Contains(read[len(read)-1].raw, "usage") {
				t.Errorf("usage although none is known: %s", read[len(read)-1].raw)
			}
			if stop, _ := b.turn(session, "next"); stop != "end_turn" {
				t.Errorf("the next turn ended with %q", stop)
			}
		})
	}
}

func TestP03_CancelAsARequestIsAnsweredWithNull(t *testing.T) {
	b := newBench(t, stalls())
	session := b.newSession()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	b.checker = nil // the protocol has no such request
	cancelID := b.request("session/cancel", `{"sessionId":%q}`, session)
	answers := map[string]string{}
	for len(answers) < 2 {
		if m := b.next(); m.Method == "" {
			answers[string(m.ID)] = string(m.Result)
		}
	}
	if answers[fmt.Sprint(cancelID)] != "null" || !strings.Contains(answers[fmt.Sprint(id)], "cancelled") {
		t.Errorf("answers %v", answers)
	}
}

func TestCancelRightBehindItsPromptCounts(t *testing.T) {
	for range 20 {
		b := newBench(t, stalls())
		session := b.newSession()
		id := b.prompt(session, "go")
		b.notify("session/cancel", `{"sessionId":%q}`, session)
		read := b.until(responseTo(id))
		if got := stopReason(t, read[len(read)-1]); got != "cancelled" {
			t.Fatalf("stop reason %q", got)
		}
	}
}

func TestCancelOfAnIdleSessionChangesNothing(t *testing.T) {
	b := newBench(t, says("fine"))
	session := b.newSession()
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	if stop, updates := b.turn(session, "hi"); stop != "end_turn" || texts(updates, "agent_message_chunk") != "fine" {
		t.Errorf("%s, %q", stop, texts(updates, "agent_message_chunk"))
	}
}

func TestP40_PromptsOfASessionAreAnsweredInOrder(t *testing.T) {
	b := newBench(t, echoes(), echoes(), echoes())
	session := b.newSession()
	var ids []int
	for _, text := range []string{"one", "two", "three"} {
		ids = append(ids, b.prompt(session, text))
	}
	for i, text := range []string{"one", "two", "three"} {
		read := b.until(func(m message) bool { return m.Method == "" })
		last := read[len(read)-1]
		if string(last.ID) != fmt.Sprint(ids[i]) {
			t.Fatalf("answer %d is for request %s", i, last.ID)
		}
		if got := texts(read, "agent_message_chunk"); got != "you said "+text {
			t.Errorf("answer %d is %q", i, got)
		}
	}
}

func TestCancelEndsQueuedPromptsToo(t *testing.T) {
	b := newBench(t, stalls())
	session := b.newSession()
	first, second := b.prompt(session, "one"), b.prompt(session, "two")
	b.until(isUpdate("agent_message_chunk"))
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	stops := map[string]string{}
	for len(stops) < 2 {
		if m := b.next(); m.Method == "" {
			stops[string(m.ID)] = stopReason(t, m)
		}
	}
	want := map[string]string{fmt.Sprint(first): "cancelled", fmt.Sprint(second): "cancelled"}
	if diff := cmp.Diff(want, stops); diff != "" {
		t.Error(diff)
	}
}

func TestCancelRequestEndsThatPrompt(t *testing.T) {
	b := newBench(t, stalls(), says("two"))
	session := b.newSession()
	first := b.prompt(session, "one")
	second := b.prompt(session, "two")
	b.until(isUpdate("agent_message_chunk"))
	b.notify("$/cancel_request", `{"requestId":%d}`, first)
	read := b.until(responseTo(first))
	if got := stopReason(t, read[len(read)-1]); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
	read = b.until(responseTo(second))
	if got := stopReason(t, read[len(read)-1]); got != "end_turn" {
		t.Errorf("the other prompt ended with %q", got)
	}
}

func TestP27_LongLines(t *testing.T) {
	for _, size := range []int{65_535, 65_536, 65_537, 1 << 20, 9 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			b := newBench(t, says("big"))
			session := b.newSession()
			frame := func(data string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":77,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"image","mimeType":"image/png","data":%q}]}}`, session, data)
			}
			b.write(frame(strings.Repeat("A", size-len(frame("")))))
			read := b.until(responseTo(77))
			if got := stopReason(t, read[len(read)-1]); got != "end_turn" {
				t.Errorf("stop reason %q", got)
			}
		})
	}
}

func TestP34_InvalidUTF8InAFile(t *testing.T) {
	b := newBench(t, calls(call("c1", "read_file", `{"path":"cp949.txt"}`)))
	if err := os.WriteFile(filepath.Join(b.cwd, "cp949.txt"), []byte("a\xB0\xA1\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := b.newSession()
	stop, updates := b.turn(session, "read it") // the checker refuses lines that are not UTF-8
	ended := find(updates, "tool_call_update", "completed")
	if stop != "end_turn" || len(ended) != 1 || !strings.Contains(fmt.Sprint(ended[0].Params.Update["content"]), "a\uFFFD\uFFFD\nb") {
		t.Errorf("%s, %v", stop, ended)
	}
}

func TestP39_OneSessionWaitingForLeaveBlocksNoOther(t *testing.T) {
	b := newBench(t, calls(call("c1", "write_file", `{"path":"a","content":"x"}`)), says("from B"))
	parked := b.newSession()
	id := b.prompt(parked, "write")
	question := b.until(isPermission)
	other := b.newSession()
	if stop, updates := b.turn(other, "hi"); stop != "end_turn" || texts(updates, "agent_message_chunk") != "from B" {
		t.Errorf("%s, %q", stop, texts(updates, "agent_message_chunk"))
	}
	b.answer(question[len(question)-1], "deny")
	b.until(responseTo(id))
}

func TestUsageOfATurn(t *testing.T) {
	b := newBench(t, counted(says("ok")))
	session := b.newSession()
	answer, before := b.call("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":"hi"}]}`, session)
	var result struct{ Usage map[string]int }
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"inputTokens": 123, "outputTokens": 45, "totalTokens": 168, "thoughtTokens": 7, "cachedReadTokens": 11}
	if diff := cmp.Diff(want, result.Usage); diff != "" {
		t.Error(diff)
	}
	told := find(before, "usage_update", "")
	if last := told[len(told)-1].Params.Update; last["size"] != 100_000.0 || last["used"] != 168.0 {
		t.Errorf("told %v", last)
	}
}
