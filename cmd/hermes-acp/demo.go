package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "see the agent at work: offline, without a key, in a temporary folder",
		Description: "The agent runs as a child process with a small built-in model. It reads a file,\n" +
			"edits it once you allow that, runs a command, and after a restart still has the\n" +
			"conversation. Each claim is checked; the exit code is 0 only if all of them hold.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "do not ask, allow everything"},
		},
		Action: func(c *cli.Context) error {
			dir, err := os.MkdirTemp("", "hermes-acp-demo-")
			if err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			// Links resolved, as the agent reports paths.
			if dir, err = filepath.EvalSymlinks(dir); err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			ctx, interrupts, stop := catchInterrupts(c.Context)
			defer stop()
			err = runDemo(ctx, interrupts, dir, c.Bool("yes"), c.App.Reader, c.App.Writer)
			if rmErr := os.RemoveAll(dir); rmErr != nil {
				err = errors.Join(err, fmt.Errorf("remove the demo's folder: %w", rmErr))
			}
			if errors.Is(context.Cause(ctx), errInterrupted) || errors.Is(err, errDemoCancelled) {
				return cli.Exit("", exitInterrupted)
			}
			return err
		},
	}
}

var errDemoCancelled = errors.New("the demo was cancelled")

// What the demo works on.
const (
	demoFile   = "todo.md"
	demoOpen   = "- [ ] water the plants"
	demoDone   = "- [x] water the plants"
	demoBefore = "# To do\n\n" + demoOpen + "\n- [ ] call Ada\n"
	demoAfter  = "# To do\n\n" + demoDone + "\n- [ ] call Ada\n"
	demoShell  = "cat " + demoFile
)

// demo is one run of the demo.
type demo struct {
	workspace string
	home      string // the agent's own folder, in place of ~/.hermes
	ask       asker
	view      *demoView
}

// demoStep is one prompt and the check of what came of it, which returns the
// claim that then holds.
type demoStep struct {
	title  string
	prompt string
	check  func(d *demo, seen turnRecord) (claim string, err error)
}

func demoSteps() []demoStep {
	return []demoStep{
		{"Read a file", "Read " + demoFile, checkRead},
		{"Edit it, with your leave", fmt.Sprintf("Replace %q with %q in %s", demoOpen, demoDone, demoFile), checkEdit},
		{"Run a command", "Run `" + demoShell + "`", checkCommand},
	}
}

func runDemo(ctx context.Context, interrupts *interrupts, dir string, yes bool, in io.Reader, out io.Writer) error {
	d := &demo{workspace: filepath.Join(dir, "workspace"), home: filepath.Join(dir, "home")}
	if err := d.makeFiles(); err != nil {
		return fmt.Errorf("prepare the demo: %w", err)
	}
	ui := newTerminalUI(out, d.workspace)
	defer ui.close()
	d.view = &demoView{terminalUI: ui}
	switch {
	case yes:
		d.ask = sayYes("--yes")
	case isTerminal(in) && isTerminal(out):
		d.ask = ui.asker(in)
	default:
		d.ask = sayYes("by the demo itself, as there is no terminal to ask you at")
	}
	ui.notice(ui.bold("hermes-acp demo") + "\n" +
		"A built-in model, no key, no network. Only files under\n" + dir + "\nare touched, and they are removed at the end.")
	session, err := d.talk(ctx, interrupts)
	if err != nil {
		return err
	}
	if err := d.reload(ctx, session); err != nil {
		return err
	}
	ui.notice("\n" + nextSteps(ui.paint))
	return nil
}

// sayYes is an asker that allows everything once, and says why.
func sayYes(by answeredBy) asker {
	return func(_ context.Context, q acpclient.PermissionRequest) (answer, error) {
		return answer{allowing(q), by}, nil
	}
}

func (d *demo) makeFiles() error {
	for _, folder := range []string{d.workspace, d.home} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(d.workspace, demoFile), []byte(demoBefore), 0o600)
}

// talk runs the steps in one session and ends the agent.
func (d *demo) talk(ctx context.Context, interrupts *interrupts) (acpsdk.SessionId, error) {
	c, err := d.start(ctx)
	if err != nil {
		return "", err
	}
	err = func() error {
		if err := c.open(ctx, d.workspace); err != nil {
			return err
		}
		for i, step := range demoSteps() {
			if err := d.step(ctx, c, i+1, step, interrupts); err != nil {
				return fmt.Errorf("step %d, %s: %w", i+1, strings.ToLower(step.title), err)
			}
		}
		return nil
	}()
	if endErr := c.end(ctx); err == nil {
		err = endErr
	}
	return c.session, err
}

func (d *demo) step(ctx context.Context, c *conversation, n int, step demoStep, interrupts *interrupts) error {
	d.view.heading(n, step.title)
	d.view.showPrompt(step.prompt)
	d.view.beginRecord()
	d.view.setBusy(true)
	stop, err := c.prompt(ctx, step.prompt, interrupts)
	switch {
	case err != nil:
		return err
	case stop == acpsdk.StopReasonCancelled:
		return errDemoCancelled
	case stop != acpsdk.StopReasonEndTurn:
		return fmt.Errorf("the turn ended early: %s", stop)
	}
	claim, err := step.check(d, d.view.record())
	if err != nil {
		return err
	}
	d.view.checked(claim)
	return nil
}

// reload starts the agent anew and holds the session's history to what was said.
func (d *demo) reload(ctx context.Context, session acpsdk.SessionId) error {
	d.view.heading(len(demoSteps())+1, "Restart the agent, load the session")
	c, err := d.start(ctx)
	if err != nil {
		return err
	}
	d.view.beginRecord()
	d.view.hide(true)
	_, err = c.client.LoadSession(ctx, session, d.workspace)
	d.view.hide(false)
	if endErr := c.end(ctx); err == nil {
		err = endErr
	}
	if err != nil {
		return fmt.Errorf("load the session again: %w", err)
	}
	seen := d.view.record()
	var prompts []string
	for _, step := range demoSteps() {
		prompts = append(prompts, step.prompt)
	}
	if !slices.Equal(seen.prompts, prompts) || seen.text == "" || len(seen.calls) != len(prompts) {
		return fmt.Errorf("load the session again: the history holds the prompts %q and %d tool calls, want %q and %d", seen.prompts, len(seen.calls), prompts, len(prompts))
	}
	for _, p := range seen.prompts {
		d.view.showPrompt(p)
	}
	d.view.checked(fmt.Sprintf("the history is there: %d prompts, their answers and %d tool calls", len(seen.prompts), len(seen.calls)))
	return nil
}

func (d *demo) start(ctx context.Context) (*conversation, error) {
	agent, err := agentCommand("")
	if err != nil {
		return nil, err
	}
	d.isolate(agent)
	return startConversation(ctx, agent, d.view, approveAsk, d.ask)
}

// isolate gives the agent a home of its own and the built-in model, whatever is
// configured here.
func (d *demo) isolate(agent *exec.Cmd) {
	agent.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool {
		return strings.HasPrefix(setting, "HERMES_") && !strings.HasPrefix(setting, "HERMES_ACP_") // those choose the distro
	})
	agent.Env = append(agent.Env, "HERMES_HOME="+d.home, "HERMES_INFERENCE_PROVIDER=offline")
	if runtime.GOOS == "windows" { // the agent runs inside WSL
		forwarded := strings.TrimPrefix(os.Getenv("WSLENV")+":HERMES_HOME/p:HERMES_INFERENCE_PROVIDER", ":")
		agent.Env = append(agent.Env, "WSLENV="+forwarded)
	}
}

func checkRead(d *demo, seen turnRecord) (string, error) {
	call, err := seen.only(acpsdk.ToolKindRead)
	if err != nil {
		return "", err
	}
	if call.status != acpsdk.ToolCallStatusCompleted {
		return "", errors.New("the file was not read")
	}
	return "the agent read " + demoFile + " by itself", nil
}

func checkEdit(d *demo, seen turnRecord) (string, error) {
	call, err := seen.only(acpsdk.ToolKindEdit)
	if err != nil {
		return "", err
	}
	want, status, claim := demoAfter, acpsdk.ToolCallStatusCompleted, "on disk, "+demoFile+" has changed as you allowed"
	if !seen.allowed {
		want, status, claim = demoBefore, acpsdk.ToolCallStatusFailed, "on disk, "+demoFile+" is as it was, since you denied the edit"
	}
	got, err := os.ReadFile(filepath.Join(d.workspace, demoFile))
	if err != nil {
		return "", err
	}
	if string(got) != want || call.status != status {
		return "", fmt.Errorf("the edit is %s and %s holds %q, want %s and %q", call.status, demoFile, got, status, want)
	}
	return claim, nil
}

func checkCommand(d *demo, seen turnRecord) (string, error) {
	call, err := seen.only(acpsdk.ToolKindExecute)
	if err != nil {
		return "", err
	}
	if seen.asked && !seen.allowed {
		if call.status != acpsdk.ToolCallStatusFailed {
			return "", fmt.Errorf("the command %s though it was denied", call.status)
		}
		return "nothing ran, since you denied the command", nil
	}
	onDisk, err := os.ReadFile(filepath.Join(d.workspace, demoFile))
	if err != nil {
		return "", err
	}
	if call.status != acpsdk.ToolCallStatusCompleted || !strings.Contains(call.output, strings.TrimSpace(string(onDisk))) {
		return "", fmt.Errorf("the command %s with the output %q", call.status, call.output)
	}
	if !seen.asked {
		return "the command ran; it only reads, so it needed no leave", nil
	}
	return "the command ran with your leave", nil
}
