//go:build unix

package tools

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestTerminalReturnsOutputAndExitCode(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "sub/x", "")
	for _, tc := range []struct {
		name string
		args args
		want string
		code int
	}{
		{"output", args{"command": "echo hi"}, "hi\n[exit code 0]", 0},
		{"both streams in order", args{"command": "echo a; echo b >&2; echo c"}, "a\nb\nc\n[exit code 0]", 0},
		{"exit code", args{"command": "exit 3"}, "[exit code 3]", 3},
		{"runs in the cwd", args{"command": "pwd"}, b.ws.Cwd + "\n[exit code 0]", 0},
		{"runs in workdir", args{"command": "pwd", "workdir": "sub"}, b.path("sub") + "\n[exit code 0]", 0},
		{"no input", args{"command": "cat; echo end"}, "end\n[exit code 0]", 0},
		{"no terminal", args{"command": "(: </dev/tty) 2>/dev/null || echo none"}, "none\n[exit code 0]", 0},
		{"a signal", args{"command": "kill -9 $$"}, "[ended by SIGKILL; exit code 137]", 137},
		{"unknown command", args{"command": "exec 2>/dev/null; no-such-command"}, "[exit code 127]", 127},
		{"no final newline", args{"command": "printf x"}, "x\n[exit code 0]", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := b.call(t, "terminal", tc.args)
			if err != nil || got.Text != tc.want || got.Exit.Code != tc.code || got.Failed != (tc.code != 0) {
				t.Errorf("got %q, exit %+v, error %v; want %q", got.Text, got.Exit, err, tc.want)
			}
		})
	}
}

func TestTerminalOutputIsBoundedAndPrintable(t *testing.T) {
	b := newWorkbench(t)
	got, err := b.call(t, "terminal", args{"command": `printf start; head -c 300000000 /dev/zero | tr '\0' x; printf end`})
	if err != nil || len(got.Text) > captureHead+captureTail+200 || !strings.HasPrefix(got.Text, "startxxx") ||
		!strings.HasSuffix(got.Text, "xxxend\n[exit code 0]") || !strings.Contains(got.Text, "286.1 MiB left out") {
		t.Errorf("%d bytes, error %v", len(got.Text), err)
	}
	got, err = b.call(t, "terminal", args{"command": `printf '\377\033[31mred\033[0m\n10%%\r20%%\n'`})
	if err != nil || !utf8.ValidString(got.Text) || got.Text != "\ufffdred\n20%\n[exit code 0]" {
		t.Errorf("%q, error %v", got.Text, err)
	}
}

func TestTerminalTimeoutEndsTheWholeGroup(t *testing.T) {
	b := newWorkbench(t)
	got, err := b.call(t, "terminal", args{"command": `trap '' TERM; sleep 300 & echo $!; wait; sleep 300`, "timeout": "1"})
	if err != nil || !got.Failed || !strings.Contains(got.Text, "after the timeout of 1s") {
		t.Fatalf("%q, error %v", got.Text, err)
	}
	gone(t, strings.Fields(got.Text)[0])
}

func TestTerminalCancelEndsTheWholeGroup(t *testing.T) {
	b := newWorkbench(t)
	stopped := errors.New("cancelled by the person")
	ctx, cancel := context.WithCancelCause(t.Context())
	plan, err := b.plan(t, "terminal", args{"command": `sleep 300 & echo $!; wait`})
	if err != nil {
		t.Fatal(err)
	}
	pid := ""
	_, err = plan.Run(ctx, func(p agent.Progress) {
		pid = strings.TrimSpace(p.Output)
		cancel(stopped)
	})
	if !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
	gone(t, pid)
}

func TestTerminalEndsWhatTheCommandLeavesBehind(t *testing.T) {
	b := newWorkbench(t)
	for _, line := range []string{`sleep 300 & echo $!`, `sleep 300 >/dev/null 2>&1 & echo $!`} {
		got, err := b.call(t, "terminal", args{"command": line})
		if err != nil || !strings.Contains(got.Text, "in the background were ended") {
			t.Errorf("%s: %q, error %v", line, got.Text, err)
		}
		gone(t, strings.Fields(got.Text)[0])
	}
}

// A process that left the group and holds the output open does not hold the
// call.
func TestTerminalDoesNotWaitForWhatLeftItsGroup(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	b := newWorkbench(t)
	got, err := b.call(t, "terminal", args{"command": `setsid sleep 300 & echo $!`})
	if err != nil || got.Exit.Code != 0 {
		t.Fatalf("%q, error %v", got.Text, err)
	}
	pid, err := strconv.Atoi(strings.Fields(got.Text)[0])
	must(t, err)
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have been ended with the group, before setsid
}

// gone waits until the process with the given id has ended: a killed process
// stays visible until its new parent reaps it.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(n, 0) != nil || isZombie(n) {
			return
		}
	}
	t.Errorf("process %d still runs", n)
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestCommandEnvironment(t *testing.T) {
	b := newWorkbench(t)
	start := b.write(t, "start.sh", "echo started\n")
	b.Toolset = New(Options{
		Env: func(context.Context) []string {
			return append(os.Environ(), "BASH_ENV="+start, "ENV="+start, "BASH_FUNC_ls%%=() { echo function; }", "OPENAI_API_KEY=secret", "KEPT=yes")
		},
		StripEnv: []string{"OPENAI_API_KEY"},
	})
	got, err := b.call(t, "terminal", args{"command": `echo "key=$OPENAI_API_KEY kept=$KEPT"; type -t ls; PATH=/usr/bin:/bin ls sub`})
	if err != nil || !strings.HasPrefix(got.Text, "key= kept=yes\nfile\n") || strings.Contains(got.Text, "function") || strings.Contains(got.Text, "started") {
		t.Errorf("%q, error %v", got.Text, err)
	}
}

func TestTerminalBadInput(t *testing.T) {
	b := newWorkbench(t)
	for _, a := range []args{
		{}, {"command": " "}, {"command": "a\x00b"}, {"command": "true", "timeout": 0}, {"command": "true", "timeout": 601},
	} {
		if _, err := b.plan(t, "terminal", a); err == nil {
			t.Errorf("%v was accepted", a)
		}
	}
	if _, err := b.call(t, "terminal", args{"command": "true", "workdir": "missing"}); err == nil {
		t.Error("a missing workdir was accepted")
	}
}
