//go:build linux

package wslbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

// testTimeout only ends a test that hangs.
const testTimeout = 30 * time.Second

// machine is a simulated Windows with WSL.
type machine struct {
	t      testing.TB
	dir    string
	config wslbridgetest.Config
}

// newMachine has the distros Ubuntu (the default) and Debian.
func newMachine(tb testing.TB) *machine {
	tb.Helper()
	m := &machine{t: tb, dir: tb.TempDir()}
	m.config.Log = filepath.Join(m.dir, "wsl.log")
	for _, name := range []string{"Ubuntu", "Debian"} {
		home := filepath.Join(m.dir, "distros", name, "home u")
		if err := os.MkdirAll(home, 0o755); err != nil {
			tb.Fatal(err)
		}
		m.config.Distros = append(m.config.Distros, wslbridgetest.Distro{Name: name, GUID: "{" + name + "}", Home: home, Default: name == "Ubuntu"})
	}
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(m.dir, "wsl.exe")); err != nil {
		tb.Fatal(err)
	}
	return m
}

func (m *machine) home(distro string) string {
	for _, d := range m.config.Distros {
		if d.Name == distro {
			return d.Home
		}
	}
	m.t.Fatalf("no distro %s", distro)
	return ""
}

func (m *machine) stored(distro string) string {
	return filepath.Join(m.home(distro), ".local/share/hermes-acp/bin", testPayload(m.t).SHA256, "hermes-acp")
}

// installed puts the agent where the bootstrap looks first.
func (m *machine) installed(distros ...string) *machine {
	m.t.Helper()
	exe, _ := os.Executable()
	for _, distro := range distros {
		if err := os.MkdirAll(filepath.Dir(m.stored(distro)), 0o700); err != nil {
			m.t.Fatal(err)
		}
		if err := os.Symlink(exe, m.stored(distro)); err != nil {
			m.t.Fatal(err)
		}
	}
	return m
}

func (m *machine) calls() []wslbridgetest.Invocation {
	m.t.Helper()
	calls, err := wslbridgetest.ReadLog(m.config.Log)
	if err != nil {
		m.t.Fatal(err)
	}
	return calls
}

func (m *machine) registered() Registered {
	r := Registered{}
	for _, d := range m.config.Distros {
		r.Distros = append(r.Distros, Distro{Name: d.Name, GUID: d.GUID, Version: 2, Ready: true})
		if d.Default {
			r.Default = d.GUID
		}
	}
	return r
}

// launcher returns one that is ready to run but for its streams.
func (m *machine) launcher() *Launcher {
	m.t.Helper()
	config := filepath.Join(m.dir, "wslsim.json")
	if err := wslbridgetest.WriteConfig(config, m.config); err != nil {
		m.t.Fatal(err)
	}
	return &Launcher{
		WSL:        filepath.Join(m.dir, "wsl.exe"),
		SystemDir:  "/",
		Version:    testVersion,
		Payload:    testPayload(m.t),
		Registered: m.registered(),
		HostArgs:   []string{"bridge-host"},
		Environ:    append(os.Environ(), wslbridgetest.ConfigEnv+"="+config),
		Log:        discardLog(),
	}
}

var payloadOnce = sync.OnceValue(func() *Payload {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	binary, err := os.ReadFile(exe)
	if err != nil {
		panic(err)
	}
	return payloadOf(binary)
})

func testPayload(tb testing.TB) *Payload {
	tb.Helper()
	return payloadOnce()
}

// editor is a scripted client of a running launcher.
type editor struct {
	t      testing.TB
	stdin  *os.File
	stdout *os.File
	lines  *bufio.Reader
	nextID int
	stderr *lockedBuffer

	result chan struct{}
	code   int
	err    error
}

// startEditor starts l and returns its client.
func startEditor(tb testing.TB, l *Launcher) *editor {
	tb.Helper()
	e := &editor{t: tb, stderr: &lockedBuffer{}, result: make(chan struct{})}
	stdin, theirs, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	ours, stdout, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	e.stdin, e.stdout, e.lines = theirs, ours, bufio.NewReaderSize(ours, 1<<20)
	l.Stdin, l.Stdout = stdin, stdout
	if l.Stderr == nil {
		l.Stderr = e.stderr
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(e.result)
		e.code, e.err = l.Run(ctx)
		_ = stdout.Close()
	}()
	tb.Cleanup(func() {
		cancel()
		_ = theirs.Close()
		_ = ours.Close()
		<-e.result
		_ = stdin.Close()
	})
	guard := time.AfterFunc(testTimeout, func() {
		tb.Error("the launcher hangs")
		_ = ours.Close()
		cancel()
	})
	tb.Cleanup(func() { guard.Stop() })
	return e
}

func (e *editor) send(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.stdin, format+"\n", args...); err != nil {
		e.t.Fatalf("send: %v", err)
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// receive returns the next line, which must be JSON.
func (e *editor) receive() message {
	e.t.Helper()
	line, err := e.lines.ReadBytes('\n')
	if err != nil {
		e.t.Fatalf("receive: %v after %q; stderr: %s", err, line, e.stderr.String())
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		e.t.Fatalf("the editor got a line that is not JSON: %q", line)
	}
	return m
}

// call sends a request and returns its answer; messages before it go to seen, if given.
func (e *editor) call(method, params string, seen ...func(message)) message {
	e.t.Helper()
	e.nextID++
	e.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.nextID, method, params)
	want := fmt.Sprint(e.nextID)
	for {
		m := e.receive()
		if string(m.ID) == want && m.Method == "" {
			return m
		}
		for _, f := range seen {
			f(m)
		}
	}
}

// wait returns what Run returned.
func (e *editor) wait() (int, error) {
	e.t.Helper()
	<-e.result
	return e.code, e.err
}

// bye closes the editor's end and waits.
func (e *editor) bye() (int, error) {
	e.t.Helper()
	_ = e.stdin.Close()
	return e.wait()
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// alive reports whether the process exists and is no zombie.
func alive(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}

// awaitGone fails the test unless the process ends.
func awaitGone(t *testing.T, what string, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("%s (pid %d) is still there", what, pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
