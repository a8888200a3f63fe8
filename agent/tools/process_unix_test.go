//go:build unix

package tools

import (
	"maps"
	"strings"
	"testing"
)

func TestBackgroundCommand(t *testing.T) {
	b := newWorkbench(t)
	process := func(action string, more args) string {
		t.Helper()
		a := args{"action": action, "session_id": "proc_1"}
		maps.Copy(a, more)
		got, err := b.call(t, "process", a)
		if err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		return got.Text
	}
	got, err := b.call(t, "terminal", args{"command": "echo ready; while read -r x; do echo got $x; done; exit 3", "background": true})
	if err != nil || !strings.Contains(got.Text, "proc_1") {
		t.Fatalf("%q, error %v", got.Text, err)
	}
	process("write", args{"data": "one", "submit": true})
	for text := ""; !strings.Contains(text, "got one"); { // ends when the command has answered
		text += process("poll", nil)
	}
	if text := process("poll", nil); text != "[proc_1: running]" {
		t.Errorf("a second poll: %q", text)
	}
	if list := process("list", nil); !strings.HasPrefix(list, "proc_1: running") {
		t.Errorf("list: %q", list)
	}
	if text := process("log", nil); text != "ready\ngot one\n[proc_1: running]" {
		t.Errorf("log: %q", text)
	}
	if text := process("kill", nil); !strings.Contains(text, "ended by SIGTERM") {
		t.Errorf("kill: %q", text)
	}
	if text := process("wait", args{"timeout": 1}); !strings.Contains(text, "ended by SIGTERM") {
		t.Errorf("wait: %q", text)
	}
	if _, err := b.call(t, "process", args{"action": "write", "session_id": "proc_1", "data": "x"}); err == nil {
		t.Error("an ended command took input")
	}
}

func TestTypingIntoACommandAsks(t *testing.T) {
	b := newWorkbench(t)
	if _, err := b.call(t, "terminal", args{"command": "cat", "background": true}); err != nil {
		t.Fatal(err)
	}
	plan, err := b.plan(t, "process", args{"action": "write", "session_id": "proc_1", "data": "rm -rf x", "submit": true})
	if err != nil || plan.Access.Command == nil || plan.Access.Command.Plain {
		t.Errorf("plan %+v, error %v", plan.Access, err)
	}
	for _, action := range []string{"list", "poll", "log", "kill"} {
		plan, err := b.plan(t, "process", args{"action": action, "session_id": "proc_1"})
		if err != nil || plan.Access.Command != nil {
			t.Errorf("%s: plan %+v, error %v", action, plan.Access, err)
		}
	}
}

func TestEndingASessionEndsItsCommands(t *testing.T) {
	b := newWorkbench(t)
	if _, err := b.call(t, "terminal", args{"command": "echo $$; trap '' TERM; sleep 300", "background": true}); err != nil {
		t.Fatal(err)
	}
	c, err := b.session(b.ws).find("proc_1")
	if err != nil {
		t.Fatal(err)
	}
	b.EndSession(b.ws.SessionID)
	if c.running() {
		t.Error("the command still runs")
	}
}

func TestBackgroundCommandsAreLimited(t *testing.T) {
	b := newWorkbench(t)
	for range maxBackground {
		if _, err := b.call(t, "terminal", args{"command": "cat", "background": true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.call(t, "terminal", args{"command": "cat", "background": true}); err == nil {
		t.Error("one more was started")
	}
	if _, err := b.call(t, "process", args{"action": "kill", "session_id": "proc_1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(t, "terminal", args{"command": "true", "background": true}); err != nil {
		t.Error(err)
	}
}

func TestProcessBadInput(t *testing.T) {
	b := newWorkbench(t)
	if _, err := b.call(t, "terminal", args{"command": "cat", "background": true}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []args{
		{},
		{"action": "poll"},
		{"action": "poll", "session_id": "proc_9"},
		{"action": "stop", "session_id": "proc_1"},
		{"action": "write", "session_id": "proc_1"},
		{"action": "wait", "session_id": "proc_1", "timeout": 0},
	} {
		if _, err := b.plan(t, "process", a); err == nil {
			t.Errorf("%v was accepted", a)
		}
	}
}
