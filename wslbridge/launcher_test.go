//go:build linux

package wslbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBridgeServes(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	e := startEditor(t, m.launcher())
	if got := e.distro(); got != "Ubuntu" {
		t.Errorf("served by %q", got)
	}
	if got := e.call("echo", `{"text":"Grüße 😀"}`).Result; string(got) != `{"text":"Grüße 😀"}` {
		t.Errorf("echo = %s", got)
	}
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	if got := e.stderr.String(); got != "" {
		t.Errorf("noise on stderr: %q", got)
	}
	calls := m.calls()
	if len(calls) != 1 {
		t.Fatalf("wsl.exe was started %d times", len(calls))
	}
	want := append([]string{"-d", "Ubuntu", "--exec"}, bootstrapArgs(testPayload(t), testVersion, []string{"bridge-host"})...)
	if diff := cmp.Diff(want, calls[0].Args); diff != "" {
		t.Errorf("wsl.exe's arguments (-want +got):\n%s", diff)
	}
}

// distro initializes and returns where the agent runs.
func (e *editor) distro() string {
	e.t.Helper()
	var result struct{ Distro string }
	if err := json.Unmarshal(e.call("initialize", `{}`).Result, &result); err != nil {
		e.t.Fatal(err)
	}
	return result.Distro
}

// Whatever the code pages are: what an agent echoes comes back byte for byte, UTF-8 or not.
func TestW65_BytesPassUnchanged(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.HostArgs = []string{"bridge-host", "--", "cat"}
	e := startEditor(t, l)
	for _, frame := range []string{`{"a":"Messger` + "\xc3\xa4" + `t"}`, `{"a":"Messger\u00e4t"}`, "{\"a\":\"\xe4 \xff\x00\"}", `{"n": 1.50e+01 }`} {
		e.send("%s", frame)
		if got, err := e.lines.ReadString('\n'); got != frame+"\n" || err != nil {
			t.Errorf("%q came back as %q, %v", frame, got, err)
		}
	}
}

func TestW07_WSLStartsInAPlainLocalFolder(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.WorkDir = `\\?\UNC\wsl.localhost\Ubuntu\home\u\p`
	e := startEditor(t, l)
	e.distro()
	if _, err := e.bye(); err != nil {
		t.Fatal(err)
	}
	call := m.calls()[0]
	if call.Dir != l.SystemDir {
		t.Errorf("wsl.exe ran in %q, want %q", call.Dir, l.SystemDir)
	}
	if slices.Contains(call.Args, "--cd") {
		t.Error("--cd is given, which old versions do not know")
	}
}

func TestW17_W18_W20_ArgumentsArriveLiterally(t *testing.T) {
	words := []string{
		"--model", "x$(touch pwned)\"`id`", `C:\w\a`, `C:\w x\a\`, "", "$HOME", `C:\Users\Pat O'Neil\.hermes`, "it's; exit 1", "%PATH% ^ !", "ü😀", "a\nb", "67",
	}
	m := newMachine(t).installed("Ubuntu")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := m.launcher()
	l.HostArgs = append([]string{"bridge-host", "--", exe, "agent"}, words...)
	e := startEditor(t, l)
	var result struct{ Args []string }
	if err := json.Unmarshal(e.call("initialize", `{}`).Result, &result); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{exe, "agent"}, words...), result.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if pwned, _ := filepath.Glob(filepath.Join(m.home("Ubuntu"), "pwned*")); pwned != nil {
		t.Error("an argument was run by a shell")
	}
}

func TestW22_W23_ListedVariablesCross(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.Environ = append(l.Environ, "WSLENV=CAROOT/up:FOO", "FOO=bar", "OPENAI_API_KEY=k2", "HERMES_TEST_KEY=k1", "OTHER_SECRET=k3")
	l.EnvNames = []string{"HERMES_TEST_KEY"}
	e := startEditor(t, l)
	var env []string
	if err := json.Unmarshal(e.call("env", `{}`).Result, &env); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FOO=bar", "OPENAI_API_KEY=k2", "HERMES_TEST_KEY=k1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s did not cross", want)
		}
	}
	if slices.Contains(env, "OTHER_SECRET=k3") {
		t.Error("a variable crossed that nobody named")
	}
	call := m.calls()[0]
	if i := slices.IndexFunc(call.Env, func(s string) bool { return strings.HasPrefix(s, "WSLENV=CAROOT/up:FOO:") }); i < 0 {
		t.Errorf("WSLENV lost what it had: %q", call.Env)
	}
	if args := strings.Join(call.Args, " "); strings.Contains(args, "k1") || strings.Contains(args, "k2") {
		t.Error("a secret is in the arguments")
	}
}

func TestW27_W29_NoiseBeforeHelloGoesToStderr(t *testing.T) {
	for name, banner := range map[string]string{
		"lines":          "Welcome to Ubuntu\n\x1b[0m",
		"glued to hello": "\x1b[1 q",
		"looks like":     "{\"hermes\":1}\n{",
		"long":           strings.Repeat("x", 200<<10),
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t).installed("Ubuntu")
			m.config.BannerStdout = banner
			m.config.BannerStderr = "<3>WSL (9 - Relay) ERROR: CreateProcessParseCommon:711: Failed to translate C:\\x\n"
			e := startEditor(t, m.launcher())
			e.distro()
			if code, err := e.bye(); code != 0 || err != nil {
				t.Errorf("ended with %d, %v", code, err)
			}
			// What came on the child's stderr stands anywhere between pieces of what came on its stdout.
			before, after, found := strings.Cut(e.stderr.String(), m.config.BannerStderr)
			if !found {
				t.Errorf("stderr lacks %q", m.config.BannerStderr)
			}
			for want := range strings.Lines(banner) {
				if got := before + after; !strings.Contains(got, strings.TrimSpace(want)) {
					t.Errorf("stderr lacks %.80q: %.200q", want, got)
				}
			}
		})
	}
}

func TestW31_ErrorsOfWSLAreReadable(t *testing.T) {
	for name, tc := range map[string]struct {
		id, message string
		ignoreUTF8  bool
		want        string
	}{
		"not found, UTF-16": {"Wsl/Service/WSL_E_DISTRO_NOT_FOUND", "Il n’existe aucune distribution portant le nom fourni.", true, "wsl --list --quiet"},
		"not found, UTF-8":  {"Wsl/Service/WSL_E_DISTRO_NOT_FOUND", "There is no distribution with the supplied name.", false, "wsl --list --quiet"},
		"component missing": {"Wsl/WSL_E_WSL_OPTIONAL_COMPONENT_REQUIRED", "Tous", true, "wsl --install --no-distribution"},
		"WSL1 unsupported":  {"Wsl/Service/CreateInstance/WSL_E_WSL1_NOT_SUPPORTED", "", true, "wsl --set-version Ubuntu 2"},
		"being installed":   {"Wsl/Service/E_ILLEGAL_STATE_CHANGE", "", true, "wait until that has ended"},
		"unknown":           {"Wsl/Service/CreateInstance/CreateVm/HCS/0x80370102", "", true, "wsl -d Ubuntu -- true"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.config.FailID, m.config.FailMessage, m.config.IgnoreUTF8 = tc.id, tc.message, tc.ignoreUTF8
			e := startEditor(t, m.launcher())
			answer := e.call("initialize", `{}`)
			code, err := e.bye()
			if code != 1 || !errors.Is(err, ErrWSL) {
				t.Errorf("ended with %d, %v", code, err)
			}
			for where, text := range map[string]string{"error": fmt.Sprint(err), "answer": answer.Error.Message} {
				if !strings.Contains(text, tc.want) || !strings.Contains(text, tc.id) || strings.Contains(text, "\x00") {
					t.Errorf("%s = %q, want %q in it", where, text, tc.want)
				}
			}
			if got := e.stderr.String(); !strings.Contains(got, tc.message) || strings.Contains(got, "\x00") {
				t.Errorf("stderr = %q", got)
			}
		})
	}
}

func TestNoWSL(t *testing.T) {
	m := newMachine(t)
	l := m.launcher()
	l.WSL = filepath.Join(m.dir, "missing.exe")
	e := startEditor(t, l)
	if answer := e.call("initialize", `{}`); answer.Error == nil || !strings.Contains(answer.Error.Message, "wsl --install") {
		t.Errorf("answer = %+v", answer.Error)
	}
	if code, err := e.bye(); code != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestArgumentsThatWindowsWouldCut(t *testing.T) {
	l := newMachine(t).launcher()
	l.HostArgs = []string{"bridge-host", "--", "agent", strings.Repeat("x", 32000)}
	e := startEditor(t, l)
	e.call("initialize", `{}`)
	if code, err := e.bye(); code != 1 || !errors.Is(err, ErrCommandLineTooLong) {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestNoSignOfLife(t *testing.T) {
	m := newMachine(t)
	m.config.Hang = true
	l := m.launcher()
	l.helloTimeout = 300 * time.Millisecond
	e := startEditor(t, l)
	if answer := e.call("initialize", `{}`); answer.Error == nil || !strings.Contains(answer.Error.Message, "wsl -d Ubuntu -- true") {
		t.Errorf("answer = %+v", answer.Error)
	}
	if code, err := e.bye(); code != 1 || !errors.Is(err, ErrNoHello) {
		t.Errorf("ended with %d, %v", code, err)
	}
	awaitGone(t, "wsl.exe", m.calls()[0].PID)
}

// The editor leaves while the virtual machine still starts.
func TestEditorLeavesBeforeHello(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	m.config.StartDelayMillis = 300
	e := startEditor(t, m.launcher())
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	awaitGone(t, "wsl.exe", m.calls()[0].PID)
}

func TestWSL1IsMentioned(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.Registered.Distros[0].Version = 1
	e := startEditor(t, l)
	e.distro()
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	if got := e.stderr.String(); !strings.Contains(got, "wsl --set-version Ubuntu 2") {
		t.Errorf("stderr = %q", got)
	}
}

func TestNoDistro(t *testing.T) {
	m := newMachine(t)
	l := m.launcher()
	l.Registered = Registered{}
	e := startEditor(t, l)
	if answer := e.call("initialize", `{}`); answer.Error == nil || !strings.Contains(answer.Error.Message, "wsl --install") {
		t.Errorf("answer = %+v", answer.Error)
	}
	if code, err := e.bye(); code != 1 || !errors.Is(err, ErrNoDistro) {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestW35_BeginsAgainInTheDistroOfTheFolder(t *testing.T) {
	m := newMachine(t).installed("Ubuntu", "Debian")
	e := startEditor(t, m.launcher())
	var first struct{ PID, Host int }
	if err := json.Unmarshal(e.call("initialize", `{}`).Result, &first); err != nil {
		t.Fatal(err)
	}
	e.call("authenticate", `{"methodId":"x"}`)
	var session struct{ Distro string }
	answer := e.call("session/new", `{"cwd":"\\\\wsl$\\debian\\home\\u\\p","mcpServers":[]}`, func(other message) {
		t.Errorf("a second answer reached the editor: %s", other.ID)
	})
	if err := json.Unmarshal(answer.Result, &session); err != nil {
		t.Fatal(err)
	}
	if session.Distro != "Debian" {
		t.Errorf("the session is in %s", session.Distro)
	}
	e.call("echo", `{}`)
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	awaitGone(t, "the first agent", first.PID)
	if calls := m.calls(); len(calls) != 2 {
		t.Errorf("wsl.exe was started %d times", len(calls))
	}
}

// A client that does not wait for answers gets each of them once, whichever agent gives it.
func TestW35_PipelinedRequestsAreAnsweredOnce(t *testing.T) {
	for _, delay := range []int{0, 50} {
		m := newMachine(t).installed("Ubuntu", "Debian")
		m.config.StartDelayMillis = delay
		e := startEditor(t, m.launcher())
		e.send(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}` + "\n" +
			`{"jsonrpc":"2.0","id":"b","method":"authenticate","params":{}}` + "\n" +
			`{"jsonrpc":"2.0","id":"c","method":"session/new","params":{"cwd":"//wsl.localhost/Debian/x"}}` + "\n" +
			`{"jsonrpc":"2.0","id":"d","method":"echo","params":1}`)
		for _, want := range []string{`"a"`, `"b"`, `"c"`, `"d"`} {
			if got := e.receive(); string(got.ID) != want || got.Error != nil {
				t.Errorf("got an answer to %s, want one to %s", got.ID, want)
			}
		}
		if code, err := e.bye(); code != 0 || err != nil {
			t.Errorf("ended with %d, %v", code, err)
		}
		if rest, _ := io.ReadAll(e.lines); len(rest) > 0 {
			t.Errorf("and then %q", rest)
		}
	}
}

func TestDistroStays(t *testing.T) {
	for name, tc := range map[string]struct {
		wish, cwd, want string
	}{
		"a person named it":  {"Debian", `\\wsl.localhost\Ubuntu\home`, "Debian"},
		"unknown distro":     {"", `\\wsl.localhost\Arch\home`, "Ubuntu"},
		"drive":              {"", `C:\w`, "Ubuntu"},
		"POSIX":              {"", `/home/u`, "Ubuntu"},
		"same, another case": {"", `//WSL.LOCALHOST/ubuntu/home`, "Ubuntu"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t).installed("Ubuntu", "Debian")
			l := m.launcher()
			l.Distro = Wish{Name: tc.wish, Source: "--distro"}
			e := startEditor(t, l)
			e.distro()
			cwd, _ := json.Marshal(tc.cwd)
			e.call("session/new", fmt.Sprintf(`{"cwd":%s}`, cwd))
			if got := e.distro(); got != tc.want {
				t.Errorf("served by %s, want %s", got, tc.want)
			}
			if calls := m.calls(); len(calls) != 1 {
				t.Errorf("wsl.exe was started %d times", len(calls))
			}
		})
	}
}

// Frames of a client that does not wait for answers arrive in order, and so does its end of file.
func TestPipelinedFrames(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	m.config.StartDelayMillis = 100
	e := startEditor(t, m.launcher())
	for i := range 20 {
		e.send(`{"jsonrpc":"2.0","id":%d,"method":"echo","params":%d}`, i, i)
	}
	_ = e.stdin.Close()
	for i := range 20 {
		if got := e.receive(); string(got.Result) != fmt.Sprint(i) {
			t.Fatalf("answer %d = %s", i, got.Result)
		}
	}
	if code, err := e.wait(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestBadFramesAreTheAgentsToAnswer(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	e := startEditor(t, m.launcher())
	e.send("not JSON")
	if got := e.receive(); got.Error == nil || got.Error.Code != -32700 {
		t.Errorf("answer = %+v", got)
	}
	e.distro()
	e.send("{}garbage")
	if got := e.receive(); got.Error == nil || got.Error.Code != -32700 {
		t.Errorf("answer = %+v", got)
	}
	if _, err := io.WriteString(e.stdin, `{"jsonrpc":"2.0","id":1,"meth`); err != nil {
		t.Fatal(err)
	}
	_ = e.stdin.Close()
	if got := e.receive(); got.Error == nil || got.Error.Code != -32700 {
		t.Errorf("answer to a frame cut by the end of input = %+v", got)
	}
	if code, err := e.wait(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestW41_BothDirectionsAtOnce(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	e := startEditor(t, m.launcher())
	e.distro()
	const frames = 40
	pad := strings.Repeat("y", 256<<10)
	sent := make(chan error, 1)
	go func() {
		for i := range frames {
			size := len(pad)
			if i%10 != 0 {
				size = 100
			}
			if _, err := fmt.Fprintf(e.stdin, `{"jsonrpc":"2.0","id":"b%d","method":"echo","params":"%s"}`+"\n", i, pad[:size]); err != nil {
				sent <- err
				return
			}
		}
		_, err := fmt.Fprintln(e.stdin, `{"jsonrpc":"2.0","id":"end","method":"burst","params":{"count":20,"bytes":262144}}`)
		sent <- err
	}()
	answers, notes := 0, 0
	for {
		got := e.receive()
		if got.Method == "n" {
			notes++
			continue
		}
		if string(got.ID) == `"end"` {
			break
		}
		answers++
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if answers != frames || notes != 20 {
		t.Errorf("got %d answers and %d notifications", answers, notes)
	}
}

// The child is gone long before the editor has read what it wrote.
func TestW43_SlowReaderGetsEverything(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
	e := startEditor(t, l)
	e.distro()
	const count = 5000
	e.send(`{"jsonrpc":"2.0","method":"burst-and-exit","params":{"count":%d,"bytes":200,"code":3}}`, count)
	got := 0
	for {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			break
		}
		if !json.Valid(line) {
			t.Fatalf("line %d is cut: %q", got, line)
		}
		if got++; got%100 == 0 {
			time.Sleep(5 * time.Millisecond) // slowness is the subject
		}
	}
	if got != count {
		t.Errorf("got %d of %d updates", got, count)
	}
	if code, err := e.wait(); code != 3 || err == nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestExitCodes(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		method string
		code   int
		want   int
	}{
		"zero":                  {"exit", 0, 0},
		"its own":               {"exit", 42, 42},
		"taken by wsl.exe (67)": {"exit", 67, 1},
		"taken by wsl.exe (87)": {"exit", 87, 1},
		"killed":                {"die", 0, 137},
		"in mid-frame":          {"cut", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t).installed("Ubuntu")
			l := m.launcher()
			l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
			e := startEditor(t, l)
			e.distro()
			e.send(`{"jsonrpc":"2.0","method":%q,"params":{"code":%d}}`, tc.method, tc.code)
			rest, _ := io.ReadAll(e.lines)
			code, err := e.wait()
			if code != tc.want || (err != nil) != (tc.want != 0) {
				t.Errorf("ended with %d, %v; want %d", code, err, tc.want)
			}
			if tc.method == "cut" && !bytes.HasPrefix(rest, []byte(`{"jsonrpc":"2.0","met`)) {
				t.Errorf("the cut frame was lost: %q", rest)
			}
		})
	}
}

// The virtual machine crashes in the middle of a session: the editor gets frames and nothing else.
func TestWSLErrorAfterHelloIsNoFrame(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	m.config.CrashAfterBytes = 2000
	e := startEditor(t, m.launcher())
	e.call("session/new", `{"cwd":"/home/u"}`)
	e.send(`{"jsonrpc":"2.0","method":"burst","params":{"count":100,"bytes":100}}`)
	for {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			break
		}
		if line[0] != '{' {
			t.Errorf("the editor got %q", line)
		}
	}
	if code, err := e.wait(); code != 1 || !errors.Is(err, ErrWSL) || !strings.Contains(err.Error(), "wsl --shutdown") {
		t.Errorf("ended with %d, %v", code, err)
	}
}

// A request that the agent dies over is answered as long as the launcher still reads frames.
func TestDeathDuringOpeningIsAnswered(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	e := startEditor(t, m.launcher())
	e.distro()
	if answer := e.call("die", `{}`); answer.Error == nil {
		t.Errorf("answer = %+v", answer)
	}
	if code, err := e.wait(); code == 0 || err == nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestWSLKilledInMidFrame(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	m.config.DieAfterBytes = 2000
	e := startEditor(t, m.launcher())
	e.distro()
	e.send(`{"jsonrpc":"2.0","id":"x","method":"burst","params":{"count":100,"bytes":100}}`)
	if _, err := io.Copy(io.Discard, e.lines); err != nil {
		t.Fatal(err)
	}
	if code, err := e.wait(); code != 1 || err == nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestGrandchildKeepsThePipe(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, setsid := range map[string]int{"in the group": 0, "in a session of its own": 1} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t).installed("Ubuntu")
			l := m.launcher()
			l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
			e := startEditor(t, l)
			var child struct{ PID int }
			if err := json.Unmarshal(e.call("grandchild", fmt.Sprintf(`{"code":%d}`, setsid)).Result, &child); err != nil {
				t.Fatal(err)
			}
			if code, err := e.bye(); code != 0 || err != nil {
				t.Errorf("ended with %d, %v", code, err)
			}
			if setsid == 0 {
				awaitGone(t, "the grandchild", child.PID)
				return
			}
			if process, err := os.FindProcess(child.PID); err == nil {
				_ = process.Kill()
			}
		})
	}
}

func TestStderrFloodBlocksNothing(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.HostArgs = []string{"bridge-host", "--", exe, "agent"}
	stuck := make(chan struct{})
	defer close(stuck)
	l.Stderr = writerFunc(func(p []byte) (int, error) { <-stuck; return len(p), nil })
	e := startEditor(t, l)
	e.call("stderr", `{"bytes":8388608}`)
	if got := e.distro(); got != "Ubuntu" {
		t.Errorf("served by %q", got)
	}
}
