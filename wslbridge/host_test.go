//go:build linux

package wslbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// hostProcess is a host that runs as a process of its own.
type hostProcess struct {
	*exec.Cmd
	stdin  *os.File
	stdout *bufio.Reader
	hello  Hello
}

func startHost(t *testing.T, args ...string) *hostProcess {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"bridge-host"}, args...)...)
	cmd.Env = append(os.Environ(), "WSL_DISTRO_NAME=Ubuntu", "HOME="+t.TempDir())
	cmd.Stderr = t.Output()
	theirs, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = theirs, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	_ = out.Close()
	h := &hostProcess{Cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	guard := time.AfterFunc(testTimeout, func() {
		t.Error("the host hangs")
		_ = cmd.Process.Kill()
	})
	t.Cleanup(func() {
		guard.Stop()
		_ = stdin.Close()
		_ = stdout.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := h.stdout.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if h.hello, err = parseHello(line); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hostProcess) call(t *testing.T, method string) message {
	t.Helper()
	fmt.Fprintf(h.stdin, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`+"\n", method)
	line, err := h.stdout.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return m
}

// code waits for the end.
func (h *hostProcess) code() int {
	_ = h.Wait()
	return h.ProcessState.ExitCode()
}

func TestHostSaysHello(t *testing.T) {
	h := startHost(t)
	if h.hello.Distro != "Ubuntu" || h.hello.Version != testVersion || h.hello.Home == "" {
		t.Errorf("hello = %+v", h.hello)
	}
	_ = h.stdin.Close()
	if got := h.code(); got != 0 {
		t.Errorf("exit status %d", got)
	}
}

func TestHostTakesFramesWithoutPreamble(t *testing.T) {
	h := startHost(t)
	if got := h.call(t, "initialize"); got.Result == nil {
		t.Errorf("answer = %+v", got)
	}
}

func TestHostRefusesABadPreamble(t *testing.T) {
	h := startHost(t)
	fmt.Fprintln(h.stdin, preambleMarker+`"one"}`)
	if got := h.code(); got != 1 {
		t.Errorf("exit status %d", got)
	}
}

func TestHostEndsInEveryWay(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(t *testing.T, h *hostProcess){
		"end of file": func(_ *testing.T, h *hostProcess) { _ = h.stdin.Close() },
		"SIGHUP":      func(_ *testing.T, h *hostProcess) { _ = h.Process.Signal(syscall.SIGHUP) },
		"SIGTERM":     func(_ *testing.T, h *hostProcess) { _ = h.Process.Signal(syscall.SIGTERM) },
	} {
		for kind, args := range map[string][]string{
			"served": nil, "command": {"--", exe, "agent"},
		} {
			for _, deaf := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/deaf=%v", name, kind, deaf), func(t *testing.T) {
					t.Parallel()
					h := startHost(t, args...)
					var agent struct{ PID int }
					if err := json.Unmarshal(h.call(t, "initialize").Result, &agent); err != nil {
						t.Fatal(err)
					}
					if deaf {
						h.call(t, "deaf")
					}
					end(t, h)
					h.code()
					awaitGone(t, "the agent", agent.PID)
				})
			}
		}
	}
}

// EPIPE is the only sign of an editor that closed its end while nothing is said.
func TestHostEndsWhenNobodyReads(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "bridge-host")
	cmd.Env = os.Environ()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	_ = stdout.Close()
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("ended by a signal: %v", cmd.ProcessState)
	}
}

// inMemoryHost runs a host in a synctest bubble, where a minute passes in no time.
func inMemoryHost(t *testing.T, serve func(context.Context, io.Reader, io.Writer) error, play func(stdin *io.PipeWriter), configure ...func(*Host)) (code int, err error) {
	t.Helper()
	stdin, writer := io.Pipe()
	h := &Host{
		Serve: serve, Stdin: stdin, Stdout: io.Discard,
		Rewrite:  RewriteConfig{Distro: "Ubuntu", Mounts: readMounts},
		Log:      discardLog(),
		parentID: func() int { return 7 },
	}
	for _, f := range configure {
		f(h)
	}
	go play(writer)
	code, err = h.relay(context.Background())
	_ = writer.Close()
	return code, err
}

func readAll(_ context.Context, r io.Reader, _ io.Writer) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func TestHostEndsAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		code, err := inMemoryHost(t, readAll, func(stdin *io.PipeWriter) {
			for range 12 {
				time.Sleep(heartbeatInterval)
				_, _ = io.WriteString(stdin, "\n")
			}
		})
		if code != 1 || !errors.Is(err, ErrSilent) {
			t.Errorf("ended with %d, %v", code, err)
		}
		if took := time.Since(start); took < 120*time.Second+silenceLimit || took > 122*time.Second+silenceLimit {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestHostEndsWithoutItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parent atomic.Int64
		parent.Store(7)
		start := time.Now()
		code, err := inMemoryHost(t, readAll, func(*io.PipeWriter) {
			time.Sleep(10 * time.Second)
			parent.Store(1)
		}, func(h *Host) { h.parentID = func() int { return int(parent.Load()) } })
		if code != 1 || !errors.Is(err, ErrOrphaned) {
			t.Errorf("ended with %d, %v", code, err)
		}
		if took := time.Since(start); took > 12*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

// A stuck agent costs 4 s at most.
func TestW38_HostLadder(t *testing.T) {
	for name, tc := range map[string]struct {
		serve func(context.Context, io.Reader, io.Writer) error
		after time.Duration
		code  int
		err   error
	}{
		"ends at end of file": {readAll, 0, 0, nil},
		"ends when asked":     {func(ctx context.Context, _ io.Reader, _ io.Writer) error { <-ctx.Done(); return nil }, ladderStep, 0, nil},
		"never ends": {func(context.Context, io.Reader, io.Writer) error {
			time.Sleep(time.Minute)
			return nil
		}, 3 * ladderStep, 1, ErrAgentStuck},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				code, err := inMemoryHost(t, tc.serve, func(stdin *io.PipeWriter) {
					_, _ = io.WriteString(stdin, string(encodeLine(Preamble{Launcher: WireVersion}))+`{"method":"x"}`+"\n")
					_ = stdin.Close()
				})
				if code != tc.code || !errors.Is(err, tc.err) {
					t.Errorf("ended with %d, %v", code, err)
				}
				if took := time.Since(start); took != tc.after {
					t.Errorf("ended after %v, want %v", took, tc.after)
				}
				synctest.Wait()
				time.Sleep(time.Minute)
			})
		})
	}
}

// More than the read-ahead holds: the host neither grows nor takes the launcher for dead.
func TestHostWithAnAgentThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parent atomic.Int64
		start := time.Now()
		code, err := inMemoryHost(t, func(ctx context.Context, _ io.Reader, _ io.Writer) error {
			<-ctx.Done()
			return nil
		}, func(stdin *io.PipeWriter) {
			time.AfterFunc(10*time.Minute, func() { parent.Store(1) })
			_, _ = stdin.Write(encodeLine(Preamble{Launcher: WireVersion}))
			line := strings.Repeat("x", 1<<20) + "\n"
			for range 20 {
				_, _ = io.WriteString(stdin, line)
			}
		}, func(h *Host) { h.parentID = func() int { return int(parent.Load()) } })
		if code != 1 || !errors.Is(err, ErrOrphaned) {
			t.Errorf("ended with %d, %v", code, err)
		}
		if took := time.Since(start); took < 10*time.Minute || took > 10*time.Minute+4*ladderStep {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestHostCommandThatIsMissing(t *testing.T) {
	h := startHost(t, "--", "no-such-agent-anywhere")
	if got := h.code(); got != 1 {
		t.Errorf("exit status %d", got)
	}
}
