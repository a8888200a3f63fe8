//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
	"github.com/hermes-acp/hermes-acp/acp/acptest"
)

// dialogue plays a client's side of a conversation, line by line, against a real
// agent process that a Checker watches. A line is a verb and what belongs to it;
// $WORK is the script's folder, $SESSION the id of the session that was opened
// last. Blank lines and lines with # are skipped.
//
//	start                  starts the agent
//	hello                  starts it and initializes; not in the transcript
//	open                   hello, and a session in $WORK/ws; not in the transcript
//	call METHOD PARAMS     sends a request and waits for its response
//	send METHOD PARAMS     sends a request
//	notify METHOD PARAMS   sends a notification
//	prompt TEXT            call session/prompt with one text
//	begin TEXT             send session/prompt with one text
//	await                  waits for all responses
//	until TEXT             waits for a line that contains TEXT
//	answer OPTION          waits for a permission request and chooses; - dismisses,
//	                       ! is an error
//	raw LINE               sends a line as it stands; a Go string in quotes may
//	                       hold several, which are then written at once
//	write FILE STRING      writes a file in $WORK, STRING being a Go string
//	link NAME TARGET       makes a symbolic link in $WORK
//	sql STATEMENTS         changes the database while no agent runs
//	gate NAME              waits until the model is at a gate, then opens it
//	reach NAME             waits until the model is at a gate
//	stop                   closes the agent's input; it must end by itself, well
//	kill                   ends the agent with SIGKILL
//	env NAME=VALUE         sets a variable for agents that start later; NAME
//	                       alone removes it
//
// Other verbs check what came, see check.
//
// Whatever was not stopped or killed is stopped at the end.
type dialogue struct {
	state   *scriptState
	work    string
	env     []string
	session string
	lastID  int

	agent   *acpclient.Process
	checker *acptest.Checker
	lines   chan []byte // of the agent, closed at its end
	open    map[string]bool
	heard   heard
	kept    map[string]string // by name with its $
	transcript
}

// stepPatience bounds each wait, so that an agent that hangs fails the test with
// its transcript.
const stepPatience = 30 * time.Second

var errNoAgent = errors.New("no agent runs")

func newDialogue(s *scriptState, work string, env []string) *dialogue {
	works := []string{s.lane.spell(work), work}
	if resolved, err := filepath.EvalSymlinks(work); err == nil {
		works = append([]string{resolved}, works...) // macOS has its temporary folder behind a link
	}
	works = append([]string{s.lane.mount + work}, works...)
	return &dialogue{state: s, work: work, env: env, kept: make(map[string]string), transcript: newTranscript(works...)}
}

// play runs a whole script.
func (d *dialogue) play(script string) error {
	defer d.abandon()
	if err := d.run(script); err != nil {
		return err
	}
	if d.agent == nil {
		return nil
	}
	return d.stop()
}

// abandon ends an agent that a failed dialogue left behind.
func (d *dialogue) abandon() {
	if d.agent != nil {
		_ = d.kill()
	}
}

// run plays lines and leaves the agent running.
func (d *dialogue) run(script string) error {
	n := 0
	for line := range strings.Lines(script) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := d.step(line); err != nil {
			return fmt.Errorf("line %d: %s: %w", n, line, err)
		}
	}
	return nil
}

func (d *dialogue) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "start":
		return d.start()
	case "hello":
		return d.hello()
	case "open":
		return d.openSession()
	case "await":
		return d.await()
	case "stop":
		return d.stop()
	case "kill":
		return d.kill()
	case "write":
		return d.writeFile(rest)
	case "link":
		name, target, _ := strings.Cut(rest, " ")
		return os.Symlink(d.expand(target), filepath.Join(d.work, name))
	case "sql":
		return d.changeDatabase(d.expand(rest))
	case "gate", "reach":
		return d.gate(rest, verb == "gate")
	case "env":
		d.setenv(rest)
		return nil
	}
	switch verb {
	case "call", "send":
		method, params, _ := strings.Cut(rest, " ")
		return d.request(method, d.expand(params), verb == "call")
	case "prompt", "begin":
		text, _ := json.Marshal(d.expand(rest))
		params := fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%s}]}`, d.session, text)
		return d.request("session/prompt", params, verb == "prompt")
	case "notify":
		method, params, _ := strings.Cut(rest, " ")
		return d.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, d.expand(params)))
	case "raw":
		if strings.HasPrefix(rest, `"`) {
			text, err := strconv.Unquote(rest)
			if err != nil {
				return err
			}
			rest = text
		}
		return d.write(d.expand(rest))
	case "until":
		return d.until(func(line []byte) bool { return bytes.Contains(line, []byte(d.expand(rest))) })
	case "answer":
		return d.answer(rest)
	}
	return d.check(verb, rest)
}

func (d *dialogue) expand(text string) string {
	path, _ := json.Marshal(d.state.lane.spell(d.work))
	pairs := []string{"$WORK", string(path[1 : len(path)-1]), "$SESSION", d.session}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(d.kept))) { // the longer of two names first
		pairs = append(pairs, name, d.kept[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (d *dialogue) setenv(setting string) {
	name, _, set := strings.Cut(setting, "=")
	d.env = slices.DeleteFunc(d.env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if set {
		d.env = append(d.env, d.expand(setting))
	}
}

func (d *dialogue) start() error {
	if d.agent != nil {
		return errors.New("the agent runs already")
	}
	cmd, err := d.state.lane.command(d.state.program, d.work, d.env)
	if err != nil {
		return err
	}
	agent, err := acpclient.StartProcess(cmd)
	if err != nil {
		return err
	}
	d.agent, d.checker, d.open = agent, acptest.Watch(d.state.tb), make(map[string]bool)
	d.lines = make(chan []byte, 1000)
	go func() {
		defer close(d.lines)
		defer func() { _ = agent.Stdout.Close() }()
		in := bufio.NewReader(agent.Stdout)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				d.lines <- bytes.TrimSuffix(line, []byte("\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

func (d *dialogue) hello() error {
	if err := d.start(); err != nil {
		return err
	}
	return d.silently(func() error {
		return d.request("initialize", `{"protocolVersion":1}`, true)
	})
}

func (d *dialogue) openSession() error {
	if d.agent == nil {
		if err := d.hello(); err != nil {
			return err
		}
	}
	return d.silently(func() error {
		return d.request("session/new", d.expand(`{"cwd":"$WORK/ws","mcpServers":[]}`), true)
	})
}

// silently keeps what f sends and receives out of the transcript, unless it is
// an error.
func (d *dialogue) silently(f func() error) error {
	d.mute = true
	defer func() { d.mute = false }()
	return f()
}

func (d *dialogue) request(method, params string, wait bool) error {
	if len(d.open) == 0 {
		d.heard = heard{}
	}
	d.lastID++
	id := strconv.Itoa(d.lastID)
	if err := d.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)); err != nil {
		return err
	}
	d.open[id] = true
	if !wait {
		return nil
	}
	return d.until(func([]byte) bool { return !d.open[id] })
}

// write sends lines in one piece.
func (d *dialogue) write(lines string) error {
	if d.agent == nil {
		return errNoAgent
	}
	lines += "\n"
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		d.checker.ClientLine([]byte(line))
		d.sent([]byte(line))
	}
	_, err := io.WriteString(d.agent.Stdin, lines)
	return err
}

// until takes lines from the agent until one satisfies done.
func (d *dialogue) until(done func(line []byte) bool) error {
	if d.agent == nil {
		return errNoAgent
	}
	timeout := time.After(stepPatience)
	for {
		select {
		case line, ok := <-d.lines:
			if !ok {
				return fmt.Errorf("the agent ended: %w", d.agent.Stop(context.WithoutCancel(d.state.tb.Context())))
			}
			d.take(line)
			if done(line) {
				return nil
			}
		case <-timeout:
			return fmt.Errorf("nothing of the kind came in %v", stepPatience)
		}
	}
}

func (d *dialogue) take(line []byte) {
	d.checker.AgentLine(line)
	d.heard.lines = append(d.heard.lines, line)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result struct {
			SessionID string `json:"sessionId"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &m) // the checker reports what is no message
	if m.Method == "" {
		delete(d.open, string(m.ID))
		if m.Result.SessionID != "" {
			d.session = m.Result.SessionID
			d.name(d.session, "SESSION")
		}
	}
	d.received(line)
}

func (d *dialogue) await() error {
	if len(d.open) == 0 {
		return nil
	}
	return d.until(func([]byte) bool { return len(d.open) == 0 })
}

func (d *dialogue) answer(option string) error {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	err := d.until(func(line []byte) bool {
		return json.Unmarshal(line, &m) == nil && m.Method == "session/request_permission"
	})
	if err != nil {
		return err
	}
	outcome := fmt.Sprintf(`{"outcome":"selected","optionId":%q}`, option)
	if option == "-" {
		outcome = `{"outcome":"cancelled"}`
	}
	if option == "!" {
		return d.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the client is broken"}}`, m.ID))
	}
	return d.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":%s}}`, m.ID, outcome))
}

func (d *dialogue) writeFile(arguments string) error {
	name, quoted, _ := strings.Cut(arguments, " ")
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return err
	}
	path := filepath.Join(d.work, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(d.expand(text)), 0o600))
}

func (d *dialogue) changeDatabase(statements string) error {
	if d.agent != nil {
		return errors.New("the agent still runs")
	}
	db, err := sql.Open("sqlite", filepath.Join(d.work, "home", ".hermes", "state.db"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.WithoutCancel(d.state.tb.Context()), statements)
	return errors.Join(err, db.Close())
}

func (d *dialogue) gate(name string, open bool) error {
	if d.state.model == nil {
		return errors.New("no model runs")
	}
	select {
	case <-d.state.model.Reached(name):
	case <-time.After(stepPatience):
		return errors.New("the model did not come there")
	}
	if open {
		d.state.model.Open(name)
	}
	return nil
}

func (d *dialogue) stop() error {
	err := d.agent.Stop(context.WithoutCancel(d.state.tb.Context()))
	for line := range d.lines {
		d.take(line)
	}
	d.checker.Closed()
	d.agent = nil
	return err
}

func (d *dialogue) kill() error {
	d.agent.Kill()
	d.agent.Wait()
	_ = d.agent.Stdin.Close() // nobody reads it any more
	for line := range d.lines {
		d.take(line)
	}
	d.agent = nil
	return nil
}
