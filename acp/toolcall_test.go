//go:build !windows

package acp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestP16_P49_EachCallEndsOnItsOwnCard(t *testing.T) {
	b := newBench(t, calls(
		call("c1", "terminal", `{"command":"safe A"}`),
		call("c2", "terminal", `{"command":"safe B false"}`),
		call("c1", "terminal", `{"command":"safe same id again"}`),
		call("", "terminal", `{"command":"safe no id"}`),
		call("c5", "nonsense", `{"x":"y"}`),
		call("c6", "terminal", `{"command":`),
	))
	session := b.newSession()
	_, updates := b.turn(session, "go")
	titles, ends := map[any]any{}, map[any]string{}
	for _, m := range updates {
		id := m.Params.Update["toolCallId"]
		switch status, _ := m.Params.Update["status"].(string); {
		case m.update() == "tool_call":
			if titles[id] != nil {
				t.Errorf("two cards with the id %v", id)
			}
			titles[id] = m.Params.Update["title"]
		case status == "completed" || status == "failed":
			if ends[id] != "" {
				t.Errorf("two ends for %v", titles[id])
			}
			ends[titles[id]] = status
		}
	}
	want := map[any]string{
		"terminal: safe A": "completed", "terminal: safe B false": "failed", "terminal: safe same id again": "completed",
		"terminal: safe no id": "completed", "nonsense": "failed", "terminal": "failed",
	}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Error(diff)
	}
}

func TestPanicOfAToolIsAnInternalErrorAndItsCardEnds(t *testing.T) {
	b := newBench(t, calls(call("c1", "terminal", `{"command":"safe panic"}`)))
	session := b.newSession()
	read := b.until(responseTo(b.prompt(session, "go")))
	if e := read[len(read)-1].Error; e == nil || e.Code != -32603 {
		t.Errorf("answered %s", read[len(read)-1].raw)
	}
	if ends := find(read, "tool_call_update", "failed"); len(ends) != 1 {
		t.Errorf("ended %d times", len(ends))
	}
	if stop, _ := b.turn(session, "next"); stop != "end_turn" {
		t.Errorf("the next turn ended with %q", stop)
	}
}

func TestP30_TerminalOutput(t *testing.T) {
	run := func(t *testing.T, command, capabilities string) []message {
		t.Helper()
		b := newBench(t, calls(call("c1", "terminal", `{"command":%q}`, command)))
		b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":%s}`, capabilities)
		_, updates := b.turn(b.newSession(), "go")
		return append(find(updates, "tool_call", ""), find(updates, "tool_call_update", "")...)
	}
	t.Run("for clients that show terminals", func(t *testing.T) {
		updates := run(t, "safe false", `{"_meta":{"terminal_output":true}}`)
		var got []any
		for _, m := range updates {
			got = append(got, m.Params.Update["_meta"])
		}
		meta := func(key string, fields map[string]any) any {
			fields["terminal_id"] = "c1"
			return map[string]any{key: fields}
		}
		info, _ := got[0].(map[string]any)
		if info["terminal_info"] == nil {
			t.Errorf("no terminal_info: %v", got[0])
		}
		want := []any{
			any(nil),
			meta("terminal_output", map[string]any{"data": "safe false\n"}),
			meta("terminal_exit", map[string]any{"exit_code": 1.0, "signal": nil}),
		}
		if diff := cmp.Diff(want, got[1:]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("that was not streamed comes at the end", func(t *testing.T) {
		updates := run(t, "safe silent", `{"_meta":{"terminal_output":true}}`)
		if last := updates[len(updates)-1].raw; !strings.Contains(last, `"terminal_output":{"data":"safe silent\n"`) {
			t.Errorf("the call ended with %s", last)
		}
	})
	t.Run("for others", func(t *testing.T) {
		updates := run(t, "safe false", `{}`)
		if diff := cmp.Diff([]string{"tool_call pending", "tool_call_update in_progress", "tool_call_update failed"}, names(updates)); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(updates[2].raw, "```\\nsafe false\\n```") {
			t.Errorf("no output in %s", updates[2].raw)
		}
	})
}

func TestFenced(t *testing.T) {
	for text, want := range map[string]string{
		"plain":            "```\nplain\n```",
		"line\n":           "```\nline\n```",
		"a ```go\n``` b":   "````\na ```go\n``` b\n````",
		"`` and `````` so": "```````\n`` and `````` so\n```````",
	} {
		if got := fenced(text); got != want {
			t.Errorf("fenced(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTruncateNeverCutsACharacter(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("€", 3000)
		got := truncate(text)
		if !utf8.ValidString(got) || len(got) > maxShown || !strings.HasSuffix(got, "truncated)") {
			t.Errorf("shift %d: %d bytes, ends %q", shift, len(got), got[len(got)-40:])
		}
	}
	if short := strings.Repeat("x", maxShown); truncate(short) != short {
		t.Error("a text at the limit was cut")
	}
}
