package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// tty is a program that runs on a pseudo-terminal of its own.
type tty struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	seen   strings.Builder
}

func startOnTTY(t *testing.T, env []string, name string, args ...string) *tty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close() // the program has its own
	tt := &tty{t: t, cmd: cmd, master: master}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // of a test that failed
		_ = cmd.Wait()
		_ = master.Close()
	})
	return tt
}

// until reads the screen until text is on it, and returns what is new.
func (tt *tty) until(text string) string {
	tt.t.Helper()
	from := tt.seen.Len()
	buf := make([]byte, 4096)
	for !strings.Contains(tt.seen.String()[from:], text) {
		n, err := tt.master.Read(buf)
		tt.seen.Write(buf[:n])
		if err != nil {
			tt.t.Fatalf("%q did not come up (%v):\n%s", text, err, tt.seen.String())
		}
	}
	return tt.seen.String()[from:]
}

func (tt *tty) send(keys string) {
	tt.t.Helper()
	if _, err := io.WriteString(tt.master, keys); err != nil {
		tt.t.Fatal(err)
	}
}

// exitCode reads the screen to its end and returns how the program ended.
func (tt *tty) exitCode() int {
	tt.t.Helper()
	rest, err := io.ReadAll(tt.master)
	tt.seen.Write(rest)
	if err != nil && !errors.Is(err, syscall.EIO) { // what Linux says when the other end is closed
		tt.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := tt.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		tt.t.Fatal(err)
	}
	return tt.cmd.ProcessState.ExitCode()
}

func TestRunAsksAtTheTerminal(t *testing.T) {
	model := llmtest.Start(t, `
-- reply --
call write_file {"path": "new.txt", "content": "x\n"}
-- reply --
text Done.
`)
	cwd := t.TempDir()
	tt := startOnTTY(t, agentEnv(t, model.URL), builtProgram(t), "run", "--cwd", cwd, "Write it.")
	screen := tt.until("  > ")
	for _, want := range []string{"\x1b[32m+x", "[y]", "Allow once", "[a]", "Allow edits in this session", "[n]", "Deny"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the question lacks %q:\n%s", want, screen)
		}
	}
	if _, err := os.Stat(filepath.Join(cwd, "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there before the answer (%v)", err)
	}
	tt.send("y\n")
	if code := tt.exitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tt.seen.String())
	}
	if got, err := os.ReadFile(filepath.Join(cwd, "new.txt")); string(got) != "x\n" {
		t.Errorf("new.txt holds %q (%v)", got, err)
	}
	if strings.Contains(tt.seen.String(), "⚑") {
		t.Errorf("the person's own answer is told to them:\n%s", tt.seen.String())
	}
}

func TestDemoTakesANo(t *testing.T) {
	tt := startOnTTY(t, agentEnv(t, "http://127.0.0.1:1/v1"), builtProgram(t), "demo")
	tt.until("  > ")
	tt.send("n\n")
	tt.until("is as it was, since you denied the edit")
	if code := tt.exitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tt.seen.String())
	}
}

func TestCtrlCCancelsTheTurn(t *testing.T) {
	model := llmtest.Start(t, `
-- reply --
text Let me think
gate never
`)
	tt := startOnTTY(t, agentEnv(t, model.URL), builtProgram(t), "run", "--cwd", t.TempDir(), "Think.")
	tt.until("Let me think")
	tt.send("\x03")
	tt.until("Cancelling the turn")
	if code := tt.exitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, tt.seen.String())
	}
}

func TestCtrlCTakesAQuestionBack(t *testing.T) {
	model := llmtest.Start(t, `
-- reply --
call write_file {"path": "new.txt", "content": "x\n"}
`)
	cwd := t.TempDir()
	tt := startOnTTY(t, agentEnv(t, model.URL), builtProgram(t), "run", "--cwd", cwd, "Write it.")
	tt.until("  > ")
	tt.send("\x03")
	if code := tt.exitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, tt.seen.String())
	}
	if _, err := os.Stat(filepath.Join(cwd, "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was written (%v)", err)
	}
}

func TestSecondCtrlCQuitsAnAgentThatDoesNotCancel(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), otherProgramEnv+"=stubborn-agent")
	tt := startOnTTY(t, env, builtProgram(t), "run", "--agent-cmd", `"`+self+`"`, "Think.")
	tt.until("never done")
	tt.send("\x03")
	tt.until("Cancelling the turn")
	tt.send("\x03")
	if code := tt.exitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, tt.seen.String())
	}
}
