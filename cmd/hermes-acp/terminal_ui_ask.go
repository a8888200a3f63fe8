package main

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// ask shows a question with its diff and waits for a line that answers it.
func (u *terminalUI) ask(ctx context.Context, q acpclient.PermissionRequest, lines *lineSource) (acpsdk.PermissionOptionId, error) {
	u.asking.Lock()
	defer u.asking.Unlock()
	keys := optionKeys(q.Options)
	lines.open()
	defer lines.close()
	u.mu.Lock()
	u.spinner.paused = true
	u.questionDiffs(q)
	u.begin(blockCalls)
	u.printLine(u.yellow("? ") + u.bold(u.questionTitle(q)))
	u.texts(q.ToolCall.Content, math.MaxInt) // the whole command, and why it asks
	for i, o := range q.Options {
		u.printLine("  " + u.cyan("["+keys[i]+"]") + " " + oneLine(o.Name))
	}
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.spinner.paused = false
		u.endLine()
		u.spinner.redraw(u)
	}()
	for {
		u.prompt("  > ")
		line, err := lines.next(ctx)
		if err != nil {
			return "", err
		}
		u.mu.Lock()
		u.midLine = false // the person's Enter ended it
		u.mu.Unlock()
		for i, key := range keys {
			if strings.EqualFold(strings.TrimSpace(line), key) {
				return q.Options[i].OptionId, nil
			}
		}
	}
}

func (u *terminalUI) prompt(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.print(text)
	u.midLine = true
}

// optionKeys names each option by the letter of its kind, or by its number when
// that letter is taken.
func optionKeys(options []acpsdk.PermissionOption) []string {
	letters := map[acpsdk.PermissionOptionKind]string{
		acpsdk.PermissionOptionKindAllowOnce:    "y",
		acpsdk.PermissionOptionKindAllowAlways:  "a",
		acpsdk.PermissionOptionKindRejectOnce:   "n",
		acpsdk.PermissionOptionKindRejectAlways: "d",
	}
	keys := make([]string, len(options))
	for i, o := range options {
		keys[i] = letters[o.Kind]
		if keys[i] == "" {
			keys[i] = strconv.Itoa(i + 1)
		}
		delete(letters, o.Kind)
	}
	return keys
}

// lineSource reads lines from a person for as long as the program runs, since a
// read from a terminal cannot be taken back. What is typed while no question is
// open is dropped: no answer may precede its question.
type lineSource struct {
	lines chan string
	ended chan struct{}

	mu      sync.Mutex
	waiting bool
}

func newLineSource(r io.Reader) *lineSource {
	l := &lineSource{lines: make(chan string, 1), ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		for in := bufio.NewScanner(r); in.Scan(); {
			l.offer(in.Text())
		}
	}()
	return l
}

func (l *lineSource) offer(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waiting {
		return
	}
	select {
	case l.lines <- line:
	default: // the question has its answer already
	}
}

func (l *lineSource) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = true
}

// close drops an answer that nobody took.
func (l *lineSource) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	select {
	case <-l.lines:
	default:
	}
}

// next waits for a line; it fails when the input ends or ctx does.
func (l *lineSource) next(ctx context.Context) (string, error) {
	select {
	case line := <-l.lines:
		return line, nil
	case <-l.ended:
		select {
		case line := <-l.lines: // the last one
			return line, nil
		default:
			return "", io.EOF
		}
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// asker returns how this UI asks: at the terminal, or not at all when the
// person's input or the UI's output is none.
func (u *terminalUI) asker(in io.Reader) asker {
	if !isTerminal(u.out) || !isTerminal(in) {
		return askNobody
	}
	lines := newLineSource(in)
	return func(ctx context.Context, q acpclient.PermissionRequest) (answer, error) {
		option, err := u.ask(ctx, q, lines)
		return answer{option, byPerson}, err
	}
}
