//go:build linux

package wslbridge

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// agentWays are the agent by itself and behind the bridge, for figures of one run.
func agentWays(b *testing.B, use func(b *testing.B, e *editor)) {
	b.Helper()
	b.Run("alone", func(b *testing.B) { use(b, startAlone(b)) })
	b.Run("bridged", func(b *testing.B) {
		m := newMachine(b).installed("Ubuntu")
		exe, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		l := m.launcher()
		l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
		e := startEditor(b, l)
		e.call("session/new", `{"cwd":"/home/u"}`) // the end of the opening
		use(b, e)
	})
}

func startAlone(b *testing.B) *editor {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe, "agent")
	theirs, stdin, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin = theirs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = theirs.Close()
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return &editor{t: b, stdin: stdin, lines: bufio.NewReaderSize(stdout, 1<<20)}
}

func BenchmarkRoundTrip(b *testing.B) {
	agentWays(b, func(b *testing.B, e *editor) {
		b.Helper()
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			e.call("echo", `{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}`)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	})
}

// BenchmarkStream is a turn of 20,000 small updates.
func BenchmarkStream(b *testing.B) {
	agentWays(b, func(b *testing.B, e *editor) {
		b.Helper()
		for b.Loop() {
			e.send(`{"jsonrpc":"2.0","id":"end","method":"burst","params":{"count":20000,"bytes":150}}`)
			for {
				line, err := e.lines.ReadSlice('\n')
				if err != nil {
					b.Fatal(err)
				}
				if line[16] != ',' || string(line[17:21]) == `"id"` {
					break
				}
			}
		}
	})
}

func BenchmarkLargeFrames(b *testing.B) {
	agentWays(b, func(b *testing.B, e *editor) {
		b.Helper()
		frame := make([]byte, 4<<20)
		for i := range frame {
			frame[i] = 'x'
		}
		b.SetBytes(int64(2 * len(frame)))
		for b.Loop() {
			go e.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":"%s"}`, frame)
			for got := 0; got < len(frame); {
				line, err := e.lines.ReadSlice('\n')
				got += len(line)
				if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkStart compares the first answer through the launcher with that through the simulated wsl.exe
// alone.
func BenchmarkStart(b *testing.B) {
	m := newMachine(b).installed("Ubuntu")
	l := m.launcher()
	args := append([]string{"-d", "Ubuntu", "--exec"}, bootstrapArgs(l.Payload, l.Version, l.HostArgs)...)
	b.Run("wsl.exe", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(l.WSL, args...)
			cmd.Env = l.Environ
			stdin, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			_, _ = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n")
			lines := bufio.NewReader(stdout)
			for range 2 { // hello and the answer
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			_ = stdin.Close()
			b.StopTimer()
			_ = cmd.Wait()
			b.StartTimer()
		}
	})
	b.Run("launcher", func(b *testing.B) {
		for b.Loop() {
			cmd := asProcess(b, m.launcher())
			stdin, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			_, _ = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n")
			if _, err := bufio.NewReader(stdout).ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
			_ = stdin.Close()
			b.StopTimer()
			_ = cmd.Wait()
			b.StartTimer()
		}
	})
}
