//go:build !windows

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

var update = flag.Bool("update", false, "rewrite the transcripts under testdata to what the program says now")

// buildDir holds the program under test, built once and only if a test wants it.
var buildDir string

func TestMain(m *testing.M) {
	if otherProgram := otherPrograms()[os.Getenv(otherProgramEnv)]; otherProgram != nil {
		os.Exit(otherProgram())
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // the system's temporary folder is cleaned anyway
	}
	os.Exit(code)
}

// otherProgramEnv makes this test binary one of the programs that the tests need
// beside hermes-acp.
const otherProgramEnv = "HERMES_ACP_TEST_PROGRAM"

func otherPrograms() map[string]func() (exitCode int) {
	return map[string]func() int{"stubborn-agent": stubbornAgentProgram, "launcher": launcherProgram, "wsl": wslProgram, "greeter": greeterProgram}
}

// builtProgram returns the path of the real hermes-acp, as a release has it.
func builtProgram(tb testing.TB) string {
	tb.Helper()
	path, err := buildProgram()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

var buildProgram = sync.OnceValues(func() (string, error) {
	var err error
	if buildDir, err = os.MkdirTemp("", "hermes-acp-test-"); err != nil {
		return "", err
	}
	path := filepath.Join(buildDir, "hermes-acp")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// lane is one way from a client to the agent. Dialogues run in each lane and must
// see the same.
type lane struct {
	name string // a condition in scripts
	// command starts the agent, for a client that works in a folder and has the
	// given environment.
	command func(program, work string, env []string) (*exec.Cmd, error)
	// spell is how the lane's client writes a path of this machine.
	spell func(path string) string
	// mount is what the lane's agent sees in front of such a path.
	mount string
}

// directLane is a client that starts the agent itself.
var directLane = lane{
	name: "direct",
	command: func(program, work string, env []string) (*exec.Cmd, error) {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = work, env
		return cmd, nil
	},
	spell: func(path string) string { return path },
}

// TestCommandLine runs what a person types.
func TestCommandLine(t *testing.T) { runScripts(t, "testdata/script", directLane) }

// TestTalk plays the dialogues of clients.
func TestTalk(t *testing.T) { runScripts(t, "testdata/talk", directLane) }

// runScripts runs every script in a folder. Beside the commands of testscript
// there are:
//
//	model FILE       starts llmtest with a script and configures it as provider
//	talk FILE        plays a dialogue with the agent (see dialogue) and puts
//	                 the transcript on stdout
func runScripts(t *testing.T, dir string, l lane) {
	t.Helper()
	program := builtProgram(t)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("HERMES_HOME", filepath.Join(home, ".hermes"))
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("NO_PROXY", "127.0.0.1")
			tb, ok := env.T().(testing.TB)
			if !ok {
				return errors.New("testscript runs without a *testing.T")
			}
			env.Values[stateKey{}] = &scriptState{tb: tb, lane: l, program: program}
			return os.MkdirAll(filepath.Join(env.WorkDir, "ws"), 0o755)
		},
		Condition: func(name string) (bool, error) {
			if name != "direct" && name != "bridge" {
				return false, fmt.Errorf("there is no lane %q", name)
			}
			return name == l.name, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"model": cmdModel,
			"talk":  cmdTalk,
		},
	})
}

// scriptState is what the commands of one script share.
type scriptState struct {
	tb      testing.TB
	lane    lane
	program string
	model   *llmtest.Server
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *scriptState {
	s, ok := ts.Value(stateKey{}).(*scriptState)
	if !ok {
		ts.Fatalf("the script has no state")
	}
	return s
}

func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	s := stateOf(ts)
	s.model = llmtest.Start(s.tb, ts.ReadFile(args[0]))
	ts.Setenv("OPENAI_BASE_URL", s.model.URL)
	ts.Setenv("OPENAI_API_KEY", "test-key")
	ts.Setenv("HERMES_MODEL", llmtest.ModelID)
}

func cmdTalk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: talk FILE")
	}
	s := stateOf(ts)
	d := newDialogue(s, ts.MkAbs("."), []string{
		"HOME=" + ts.Getenv("HOME"), "HERMES_HOME=" + ts.Getenv("HERMES_HOME"), "PATH=" + ts.Getenv("PATH"),
		"OPENAI_BASE_URL=" + ts.Getenv("OPENAI_BASE_URL"), "OPENAI_API_KEY=" + ts.Getenv("OPENAI_API_KEY"),
		"HERMES_MODEL=" + ts.Getenv("HERMES_MODEL"), "NO_PROXY=" + ts.Getenv("NO_PROXY"),
	})
	err := d.play(ts.ReadFile(args[0]))
	if _, werr := fmt.Fprint(ts.Stdout(), d.String()); err == nil {
		err = werr
	}
	if err != nil {
		ts.Logf("%s", strings.TrimRight(d.String(), "\n"))
		ts.Fatalf("talk: %v", err)
	}
}
