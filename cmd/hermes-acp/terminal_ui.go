package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	acpsdk "github.com/coder/acp-go-sdk"
	"golang.org/x/term"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// terminalUI shows a conversation to a person: text as it streams, a line for
// each tool call, edits as diffs. On a terminal a spinner stands under it while
// something runs.
type terminalUI struct {
	out io.Writer
	paint
	live bool   // a terminal, where a line can be drawn over
	cwd  string // paths inside it are shown relative to it

	asking sync.Mutex // held while a question is open: one at a time

	mu         sync.Mutex
	block      blockKind
	midLine    bool
	calls      map[acpsdk.ToolCallId]*shownCall
	running    []acpsdk.ToolCallId
	shownDiffs map[string]bool
	spinner    spinner
}

// blockKind is what was printed last. A blank line separates blocks of
// different kinds.
type blockKind int

const (
	blockNone blockKind = iota
	blockText
	blockThought
	blockCalls
	blockNote
)

// shownCall is what is known of a tool call so far.
type shownCall struct {
	title   string
	kind    acpsdk.ToolKind
	content []acpsdk.ToolCallContent
}

// newTerminalUI writes to out. The caller must close the UI.
func newTerminalUI(out io.Writer, cwd string) *terminalUI {
	u := &terminalUI{
		out:        out,
		live:       obeysEscapes(out),
		cwd:        cwd,
		calls:      make(map[acpsdk.ToolCallId]*shownCall),
		shownDiffs: make(map[string]bool),
	}
	u.paint = paintFor(out)
	if u.live {
		u.spinner.start(u)
	}
	return u
}

func obeysEscapes(out io.Writer) bool {
	return isTerminal(out) && os.Getenv("TERM") != "dumb" && enableEscapes(out)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// opened starts the spinner: the prompt follows at once.
func (u *terminalUI) opened(acpsdk.SessionId) { u.setBusy(true) }

func (u *terminalUI) ended(acpsdk.StopReason) { u.setBusy(false) }

// close leaves the cursor at the start of a line.
func (u *terminalUI) close() {
	u.spinner.stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spinner.erase(u)
	u.endLine()
}

func (u *terminalUI) setBusy(busy bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spinner.busy = busy
	u.spinner.redraw(u)
}

func (u *terminalUI) update(up acpclient.Update) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case up.AgentMessageChunk != nil:
		u.stream(blockText, up.AgentMessageChunk.Content)
	case up.AgentThoughtChunk != nil:
		u.stream(blockThought, up.AgentThoughtChunk.Content)
	case up.UserMessageChunk != nil:
		if text := up.UserMessageChunk.Content.Text; text != nil {
			u.begin(blockNote)
			u.printLine(u.bold("› " + printable(text.Text)))
		}
	case up.ToolCall != nil:
		u.callStarted(up.ToolCall)
	case up.ToolCallUpdate != nil:
		u.callUpdated(up.ToolCallUpdate)
	case up.Plan != nil:
		u.plan(up.Plan.Entries)
	}
	u.spinner.redraw(u)
}

// stream prints a piece of text or thought.
func (u *terminalUI) stream(kind blockKind, content acpsdk.ContentBlock) {
	if content.Text == nil || content.Text.Text == "" {
		return
	}
	if kind == blockThought && u.block != blockThought && !bool(u.paint) {
		u.begin(kind)
		u.printLine("(thinking)")
	}
	if u.block != kind {
		u.begin(kind)
	}
	u.spinner.erase(u)
	text := printable(content.Text.Text)
	u.midLine = !strings.HasSuffix(text, "\n")
	if kind == blockThought {
		text = u.dim(text)
	}
	u.print(text)
}

func (u *terminalUI) callStarted(c *acpsdk.SessionUpdateToolCall) {
	call := &shownCall{title: oneLine(c.Title), kind: c.Kind, content: c.Content}
	u.calls[c.ToolCallId] = call
	u.running = append(u.running, c.ToolCallId)
	if !u.live { // there the spinner says it
		u.begin(blockCalls)
		u.printLine("→ " + call.title)
	}
	u.diffs(c.ToolCallId, c.Content)
	u.callEnded(c.ToolCallId, c.Status)
}

func (u *terminalUI) callUpdated(c *acpsdk.SessionToolCallUpdate) {
	call := u.calls[c.ToolCallId]
	if call == nil {
		return
	}
	if c.Title != nil {
		call.title = oneLine(*c.Title)
	}
	if c.Content != nil {
		call.content = c.Content
	}
	u.diffs(c.ToolCallId, c.Content)
	if c.Status != nil {
		u.callEnded(c.ToolCallId, *c.Status)
	}
}

// callEnded prints how a call ended, if status says that it did.
func (u *terminalUI) callEnded(id acpsdk.ToolCallId, status acpsdk.ToolCallStatus) {
	call := u.calls[id]
	mark := u.green("✓ ")
	switch status {
	case acpsdk.ToolCallStatusCompleted:
	case acpsdk.ToolCallStatusFailed:
		mark = u.red("✗ ")
	case acpsdk.ToolCallStatusPending, acpsdk.ToolCallStatusInProgress, "": // it need not be sent
		return
	}
	for i, r := range u.running {
		if r == id {
			u.running = append(u.running[:i], u.running[i+1:]...)
			break
		}
	}
	u.begin(blockCalls)
	u.printLine(mark + call.title)
	if call.kind == acpsdk.ToolKindExecute || status == acpsdk.ToolCallStatusFailed {
		u.texts(call.content, outputLines)
	}
}

// outputLines is how much of a command's output is shown: its end.
const outputLines = 12

// texts prints the texts among a call's contents, of each at most the last limit
// lines.
func (u *terminalUI) texts(contents []acpsdk.ToolCallContent, limit int) {
	for _, c := range contents {
		if c.Content == nil || c.Content.Content.Text == nil {
			continue
		}
		lines := strings.Split(unfenced(printable(c.Content.Content.Text.Text)), "\n")
		if hidden := len(lines) - limit; hidden > 0 {
			u.printLine(u.dim(fmt.Sprintf("  … %d lines above", hidden)))
			lines = lines[hidden:]
		}
		for _, line := range lines {
			u.printLine(u.dim("  " + line))
		}
	}
}

// unfenced returns the inside of a text that is one Markdown code block.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	fence := first[:len(first)-len(strings.TrimLeft(first, "`"))]
	if len(fence) < 3 || !strings.HasSuffix(rest, "\n"+fence) {
		return text
	}
	return strings.TrimSuffix(rest, "\n"+fence)
}

func (u *terminalUI) plan(entries []acpsdk.PlanEntry) {
	u.begin(blockNote)
	for _, e := range entries {
		mark := "☐ "
		switch e.Status {
		case acpsdk.PlanEntryStatusInProgress:
			mark = "▸ "
		case acpsdk.PlanEntryStatusCompleted:
			mark = "☑ "
		case acpsdk.PlanEntryStatusPending:
		}
		u.printLine(mark + oneLine(e.Content))
	}
}

// notice prints a line that neither the model nor a tool wrote.
func (u *terminalUI) notice(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begin(blockNote)
	u.printLine(text)
	u.spinner.redraw(u)
}

func (u *terminalUI) answered(q acpclient.PermissionRequest, a answer) {
	if a.by == byPerson {
		return // they have just typed it
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	mark := u.yellow("⚑ allowed")
	if !a.allows(q) {
		mark = u.yellow("⚑ denied")
	}
	u.questionDiffs(q)
	u.begin(blockCalls)
	u.printLine(fmt.Sprintf("%s %s %s", mark, u.questionTitle(q), u.dim("("+string(a.by)+")")))
	u.spinner.redraw(u)
}

func (u *terminalUI) questionTitle(q acpclient.PermissionRequest) string {
	if q.ToolCall.Title != nil {
		return oneLine(*q.ToolCall.Title)
	}
	if call := u.calls[q.ToolCall.ToolCallId]; call != nil {
		return call.title
	}
	return oneLine(string(q.ToolCall.ToolCallId))
}

// begin ends what was printed before and makes room for a block.
func (u *terminalUI) begin(kind blockKind) {
	u.spinner.erase(u)
	u.endLine()
	if u.block != kind && u.block != blockNone {
		u.print("\n")
	}
	u.block = kind
}

func (u *terminalUI) endLine() {
	if u.midLine {
		u.print("\n")
		u.midLine = false
	}
}

func (u *terminalUI) printLine(line string) { u.print(line + "\n") }

// print ignores errors: when the person's terminal is gone, a signal ends the
// program.
func (u *terminalUI) print(text string) { _, _ = io.WriteString(u.out, text) }

// printable drops what would move the cursor, change the terminal's state or
// turn the reading order, so that no text can pass for another.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// oneLine is printable text that cannot pass for more than one line.
func oneLine(text string) string {
	return strings.Join(strings.Split(printable(strings.TrimSpace(text)), "\n"), " ⏎ ")
}

// paint is whether colours are used.
type paint bool

func paintFor(out io.Writer) paint { return paint(obeysEscapes(out) && os.Getenv("NO_COLOR") == "") }

func (p paint) sgr(code, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string   { return p.sgr("1", text) }
func (p paint) dim(text string) string    { return p.sgr("2", text) }
func (p paint) red(text string) string    { return p.sgr("31", text) }
func (p paint) green(text string) string  { return p.sgr("32", text) }
func (p paint) yellow(text string) string { return p.sgr("33", text) }
func (p paint) cyan(text string) string   { return p.sgr("36", text) }
