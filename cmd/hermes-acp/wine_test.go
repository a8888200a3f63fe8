//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

// wineLaneEnv names the folder in which scripts/lanes/wine.sh has built hermes-acp.exe, with the
// agent embedded, hermes-acp and broker.
const wineLaneEnv = "HERMES_WINE_LANE"

func wineDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(wineLaneEnv)
	if dir == "" {
		t.Skip("run by scripts/test wine")
	}
	return dir
}

// underWine returns the command of hermes-acp.exe for a distro with the given home.
func underWine(dir, home string, sim wslbridgetest.Config, args ...string) (*exec.Cmd, error) {
	windows := filepath.Join(filepath.Dir(home), "windows")
	if err := os.MkdirAll(windows, 0o755); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{bridgedDistro, "Débian-ü"} {
		sim.Distros = append(sim.Distros, wslbridgetest.Distro{Name: name, Home: home})
	}
	sim.Log, sim.Broker = unixPath(filepath.Join(windows, "wsl.log")), unixPath(filepath.Join(dir, "broker"))
	config := filepath.Join(windows, "wsl.json")
	if err := wslbridgetest.WriteConfig(config, sim); err != nil {
		return nil, err
	}
	cmd := exec.Command("wine", append([]string{filepath.Join(dir, "hermes-acp.exe")}, args...)...)
	cmd.Dir = windows
	cmd.Env = append(os.Environ(), wslbridgetest.ConfigEnv+"="+unixPath(config), distroEnv+"="+bridgedDistro)
	return cmd, nil
}

// unixPath is how Wine spells a path of this machine.
func unixPath(path string) string { return `Z:` + strings.ReplaceAll(path, "/", `\`) }

// TestWineTalk plays the dialogues of clients through the real hermes-acp.exe.
func TestWineTalk(t *testing.T) {
	dir := wineDir(t)
	for name, tc := range map[string]struct {
		prefix, mount string
		drives        map[string]string
	}{
		"UNC":          {prefix: `\\wsl.localhost\` + bridgedDistro},
		"mapped drive": {prefix: `W:`},
		"drive":        {prefix: `E:`, mount: "/mnt/e", drives: map[string]string{"e": "/"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.drives != nil {
				needDrives(t)
			}
			l := lane{
				name:  "bridge",
				mount: tc.mount,
				spell: func(path string) string { return tc.prefix + strings.ReplaceAll(path, "/", `\`) },
				command: func(program, work string, env []string) (*exec.Cmd, error) {
					home := filepath.Join(work, "home")
					if err := installInDistro(program, home); err != nil {
						return nil, err
					}
					cmd, err := underWine(dir, home, wslbridgetest.Config{Drives: tc.drives})
					if err != nil {
						return nil, err
					}
					for _, entry := range env {
						if name, _, _ := strings.Cut(entry, "="); name != "HOME" && name != "PATH" && name != "HERMES_HOME" {
							cmd.Env = append(cmd.Env, entry)
						}
					}
					return cmd, nil
				},
			}
			runScripts(t, "testdata/talk", l)
		})
	}
}

// wineClient is a client of a hermes-acp.exe.
type wineClient struct {
	*exec.Cmd
	t      *testing.T
	home   string
	stdin  io.WriteCloser
	lines  *bufio.Reader
	stderr bytes.Buffer
}

func startWine(t *testing.T, home string, sim wslbridgetest.Config, env []string, args ...string) *wineClient {
	t.Helper()
	cmd, err := underWine(wineDir(t), home, sim, args...)
	if err != nil {
		t.Fatal(err)
	}
	c := &wineClient{Cmd: cmd, t: t, home: home}
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = &c.stderr
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewReaderSize(stdout, 1<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(time.Minute, func() {
		t.Error("hermes-acp.exe hangs")
		_ = cmd.Process.Kill()
	})
	t.Cleanup(func() {
		hang.Stop()
		_ = cmd.Process.Kill()
	})
	return c
}

func (c *wineClient) line() []byte {
	c.t.Helper()
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		_ = c.Wait()
		c.t.Fatalf("%v after %q; stderr: %s", err, line, c.stderr.String())
	}
	return line
}

// end closes the client's side, or not, and returns the exit code.
func (c *wineClient) end(closeStdin bool) int {
	c.t.Helper()
	if closeStdin {
		_ = c.stdin.Close()
	}
	_, _ = io.Copy(io.Discard, c.lines)
	_ = c.Wait()
	return c.ProcessState.ExitCode()
}

func (c *wineClient) calls() []wslbridgetest.Invocation {
	c.t.Helper()
	calls, err := wslbridgetest.ReadLog(filepath.Join(filepath.Dir(c.home), "windows", "wsl.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	return calls
}

const initializeFrame = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"

// The first start installs the embedded agent, the second finds it.
func TestWineProvisions(t *testing.T) {
	home := filepath.Join(t.TempDir(), "Pat O'Neil ü")
	for _, first := range []bool{true, false} {
		c := startWine(t, home, wslbridgetest.Config{}, nil)
		_, _ = io.WriteString(c.stdin, initializeFrame)
		if line := c.line(); !bytes.Contains(line, []byte(`"agentInfo"`)) {
			t.Errorf("answer = %s", line)
		}
		if code := c.end(true); code != 0 {
			t.Errorf("exit code %d: %s", code, c.stderr.String())
		}
		if said := strings.Contains(c.stderr.String(), "installing itself"); said != first {
			t.Errorf("stderr = %q", c.stderr.String())
		}
	}
}

func TestWineArgumentsEnvironmentAndExitCodes(t *testing.T) {
	words := []string{"a b", `q"uote`, "", `back\`, `C:\x y\`, "$HOME", "%PATH%", "ü😀", "*", "'", "&|^!"}
	home := filepath.Join(t.TempDir(), "home")
	script := `printf '%s\0' "$@" >args; printf %s "$MY_KEY" >key; exit 42`
	c := startWine(t, home, wslbridgetest.Config{}, []string{"MY_KEY=grün", "SHELL=/bin/sh"},
		append([]string{"--env", "MY_KEY", "--", "/bin/sh", "-c", script, "sh"}, words...)...)
	if code := c.end(false); code != 42 {
		t.Errorf("exit code %d: %s", code, c.stderr.String())
	}
	got, err := os.ReadFile(filepath.Join(home, "args"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if key, _ := os.ReadFile(filepath.Join(home, "key")); string(key) != "grün" {
		t.Errorf("MY_KEY = %q", key)
	}
	call := c.calls()[0]
	if !strings.EqualFold(call.Dir, `C:\windows`) {
		t.Errorf("wsl.exe ran in %s", call.Dir)
	}
	if want := []string{"-d", bridgedDistro, "--exec", "/bin/sh", "-c"}; !slices.Equal(call.Args[:5], want) {
		t.Errorf("wsl.exe's arguments begin with %q", call.Args[:5])
	}
}

func TestWineErrorsOfWSL(t *testing.T) {
	c := startWine(t, filepath.Join(t.TempDir(), "home"), wslbridgetest.Config{
		FailID: "Wsl/Service/WSL_E_DISTRO_NOT_FOUND", FailMessage: "Il n’existe aucune distribution.", IgnoreUTF8: true,
	}, nil)
	_, _ = io.WriteString(c.stdin, initializeFrame)
	if line := c.line(); !bytes.Contains(line, []byte("wsl --list --quiet")) {
		t.Errorf("answer = %s", line)
	}
	if code := c.end(true); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"Il n’existe aucune", `hermes-acp.log`} {
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, c.stderr.String())
		}
	}
}

// A thousand frames each way at once, large ones among them, through an agent that echoes.
func TestWineBothDirections(t *testing.T) {
	c := startWine(t, filepath.Join(t.TempDir(), "home"), wslbridgetest.Config{}, []string{"SHELL=/bin/sh"}, "--", "cat")
	frame := func(i int) string {
		pad := "x"
		if i%250 == 7 {
			pad = strings.Repeat("ü", 2<<20)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"_n","params":{"i":%d,"pad":"%s"}}`+"\n", i, pad)
	}
	sent := make(chan error, 1)
	go func() {
		for i := range 1000 {
			if _, err := io.WriteString(c.stdin, frame(i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range 1000 {
		if line := c.line(); string(line) != frame(i) {
			t.Fatalf("frame %d came back as %.100q", i, line)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if code := c.end(true); code != 0 {
		t.Errorf("exit code %d: %s", code, c.stderr.String())
	}
}

// The frames of another agent are recorded in a file that Windows names by a mapped drive.
func TestWineTrace(t *testing.T) {
	dir := t.TempDir()
	c := startWine(t, filepath.Join(dir, "home"), wslbridgetest.Config{}, []string{"SHELL=/bin/sh"},
		"--trace", `W:`+strings.ReplaceAll(dir, "/", `\`)+`\trace.txt`, "--", "cat")
	_, _ = io.WriteString(c.stdin, `{"jsonrpc":"2.0","method":"_n"}`+"\n")
	c.line()
	if code := c.end(true); code != 0 {
		t.Errorf("exit code %d: %s", code, c.stderr.String())
	}
	trace, err := os.ReadFile(filepath.Join(dir, "trace.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(trace), `"_n"`); lines != 2 {
		t.Errorf("the trace has %d frames:\n%s", lines, trace)
	}
}

func TestWineDriveThatIsNotMounted(t *testing.T) {
	c := startWine(t, filepath.Join(t.TempDir(), "home"), wslbridgetest.Config{}, nil)
	_, _ = io.WriteString(c.stdin, initializeFrame)
	c.line()
	_, _ = io.WriteString(c.stdin, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"Q:\\Projects\\app","mcpServers":[]}}`+"\n")
	var answer struct {
		Error struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(c.line(), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error.Code != -32602 || !strings.Contains(answer.Error.Message, `Q:\Projects\app`) || !strings.Contains(answer.Error.Message, "mount") {
		t.Errorf("answer = %+v", answer)
	}
	c.end(true)
}

// Whoever is killed, nobody stays.
func TestWineKillMatrix(t *testing.T) {
	deaf := `trap '' HUP TERM; echo $PPID $$ >pids; echo '{"jsonrpc":"2.0","method":"_up"}'; while :; do sleep 1; done`
	hang := `echo $PPID $$ >pids; echo '{"jsonrpc":"2.0","method":"_up"}'; while read -r x; do :; done`
	for _, orphan := range []bool{false, true} {
		for kind, script := range map[string]string{"deaf": deaf, "hang": hang} {
			for _, victim := range []string{"editor", "launcher", "wsl.exe", "host"} {
				t.Run(fmt.Sprintf("%s/%s/orphan=%v", victim, kind, orphan), func(t *testing.T) {
					t.Parallel()
					home := filepath.Join(t.TempDir(), "home")
					c := startWine(t, home, wslbridgetest.Config{Orphan: orphan}, []string{"SHELL=/bin/sh"}, "--", "/bin/sh", "-c", script)
					c.line()
					text, err := os.ReadFile(filepath.Join(home, "pids"))
					if err != nil {
						t.Fatal(err)
					}
					host, agent, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
					switch victim {
					case "editor":
						_ = c.stdin.Close()
					case "launcher":
						_ = c.Process.Kill()
					case "wsl.exe":
						killWSL(t, filepath.Dir(home))
					case "host":
						pid, _ := strconv.Atoi(host)
						process, _ := os.FindProcess(pid)
						_ = process.Kill()
					}
					awaitProcessGone(t, "the host", host)
					awaitProcessGone(t, "the agent", agent)
					awaitProcessGone(t, "the launcher", strconv.Itoa(c.Process.Pid))
				})
			}
		}
	}
}

// killWSL ends the simulated wsl.exe of the machine in dir.
func killWSL(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		command, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		environ, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if bytes.Contains(bytes.ToLower(command), []byte(`system32\wsl.exe`)) && bytes.Contains(environ, []byte(dir)) {
			process, _ := os.FindProcess(pid)
			_ = process.Kill()
			return
		}
	}
	t.Fatal("no wsl.exe runs")
}

func awaitProcessGone(t *testing.T, what, pid string) {
	t.Helper()
	deadline := time.Now().Add(12 * time.Second)
	for {
		status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if err != nil || bytes.Contains(status, []byte("State:\tZ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s (pid %s) is still there", what, pid)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The first run of a person who types --setup installs the agent, and uninstall takes all of it away
// but what belongs to Hermes.
func TestWineSetupAndUninstall(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	run := func(stdin string, args ...string) (string, int) {
		t.Helper()
		cmd, err := underWine(wineDir(t), home, wslbridgetest.Config{}, args...)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("", "--version"); strings.TrimSpace(out) != version || code != 0 {
		t.Errorf("--version: %q, %d", out, code)
	}
	out, code := run("openai\nsome-model\nsk-test\n", "--setup")
	if code != 0 || !strings.Contains(out, "Which provider serves your model?") {
		t.Errorf("--setup: %d, %s", code, out)
	}
	if out, code := run("", "--check"); code != 0 || !strings.Contains(out, "some-model") {
		t.Errorf("--check: %d, %s", code, out)
	}
	if out, code := run("", "sessions", "list"); code != 0 {
		t.Errorf("sessions list: %d, %s", code, out)
	}
	store := filepath.Join(home, ".local/share/hermes-acp")
	if _, err := os.Stat(store); err != nil {
		t.Error(err)
	}
	if out, code := run("", "uninstall", "--distro", bridgedDistro); code != 0 || !strings.Contains(out, "Removed from "+bridgedDistro) {
		t.Errorf("uninstall: %d, %s", code, out)
	}
	if _, err := os.Stat(store); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", store, err)
	}
	if _, err := os.Stat(filepath.Join(home, ".hermes", ".env")); err != nil {
		t.Error(err)
	}
}

// demo and run drive the bridge themselves, in a temporary folder of Windows.
func TestWineDemo(t *testing.T) {
	needDrives(t)
	home := filepath.Join(t.TempDir(), "home")
	sim := wslbridgetest.Config{Drives: map[string]string{"c": filepath.Join(os.Getenv("WINEPREFIX"), "drive_c")}}
	cmd, err := underWine(wineDir(t), home, sim, "demo")
	if err != nil {
		t.Fatal(err)
	}
	// Not the exit status: Wine 8 cannot remove the temporary folder (see scripts/lanes/wine.sh).
	if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), "Everything held.") {
		t.Errorf("%v: %s", err, out)
	}
}
