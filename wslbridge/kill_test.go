//go:build linux

package wslbridge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// chain is launcher, wsl.exe, host and agent, each a process.
type chain struct {
	launcher *exec.Cmd
	stdin    *os.File
	lines    *bufio.Reader
	pids     map[string]int
}

func startChain(t *testing.T, m *machine, deaf bool) *chain {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := m.launcher()
	l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
	before := len(m.calls())
	cmd := asProcess(t, l)
	theirs, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = theirs, t.Output()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	c := &chain{launcher: cmd, stdin: stdin, lines: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Result struct{ PID, Host int } }
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	if deaf {
		fmt.Fprintln(stdin, `{"jsonrpc":"2.0","method":"deaf"}`)
		if _, err := c.lines.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c.pids = map[string]int{
		"launcher": cmd.Process.Pid, "wsl.exe": m.calls()[before].PID,
		"host": answer.Result.Host, "agent": answer.Result.PID,
	}
	return c
}

// Whoever is killed, and whether or not WSL hangs up its orphans: nobody stays, and the next start
// works.
func TestW38_KillMatrix(t *testing.T) {
	for _, victim := range []string{"launcher", "wsl.exe", "host", "agent"} {
		for _, orphan := range []bool{false, true} {
			for _, deaf := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/orphan=%v/deaf=%v", victim, orphan, deaf), func(t *testing.T) {
					t.Parallel()
					m := newMachine(t).installed("Ubuntu")
					m.config.Orphan = orphan
					c := startChain(t, m, deaf)
					if err := syscall.Kill(c.pids[victim], syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						_ = c.launcher.Wait()
					}()
					<-ended
					for name, pid := range c.pids {
						awaitGone(t, name, pid)
					}
					startChain(t, m, false)
				})
			}
		}
	}
}

func TestW37_TwentyStartsLeaveNothing(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	for range 20 {
		c := startChain(t, m, false)
		_ = c.stdin.Close()
		if err := c.launcher.Wait(); err != nil {
			t.Fatal(err)
		}
		for name, pid := range c.pids {
			awaitGone(t, name, pid)
		}
	}
}

// The editor's process is gone without a word, and the agent neither reads nor ends.
func TestEditorGoneAgentDeaf(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	c := startChain(t, m, true)
	start := time.Now()
	_ = c.stdin.Close()
	if err := c.launcher.Wait(); err != nil {
		t.Logf("the launcher: %v", err)
	}
	for name, pid := range c.pids {
		awaitGone(t, name, pid)
	}
	t.Logf("all gone after %v", time.Since(start).Round(time.Millisecond))
}

// A machine in standby stops everything. That the time does not count is TestSilence's.
func TestStandbyEndsNothing(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	c := startChain(t, m, false)
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for name, pid := range c.pids {
			if err := syscall.Kill(pid, signal); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for signal == syscall.SIGSTOP && !isStopped(pid) {
				time.Sleep(time.Millisecond)
			}
		}
	}
	fmt.Fprintln(c.stdin, `{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
	if _, err := c.lines.ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
}

func isStopped(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err != nil || strings.Contains(string(status), "State:\tT")
}
