package agent

import (
	"context"
	"encoding/json"
)

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON schema of the arguments, an object.
	Schema json.RawMessage
	Kind   ToolKind
}

// ToolKind is the protocol's category of a tool; editors choose an icon by it.
type ToolKind string

// Tool kinds.
const (
	KindRead    ToolKind = "read"
	KindEdit    ToolKind = "edit"
	KindDelete  ToolKind = "delete"
	KindMove    ToolKind = "move"
	KindSearch  ToolKind = "search"
	KindExecute ToolKind = "execute"
	KindThink   ToolKind = "think"
	KindFetch   ToolKind = "fetch"
	KindOther   ToolKind = "other"
)

// Tool is something the model can ask for. A tool never decides whether it may
// act: Plan says what a call would do, the turn gets leave, then calls Run.
type Tool interface {
	Spec() ToolSpec
	// Plan decodes and checks the arguments and reads what a proposal has to
	// show. It changes nothing. Its error goes back to the model as the call's
	// result.
	Plan(ctx context.Context, ws *Workspace, args json.RawMessage) (Plan, error)
}

// Plan is what one tool call would do.
type Plan struct {
	// Title is one line for the person: `read_file: go.mod`.
	Title     string
	Locations []Location
	// Access lists what the call needs leave for. The zero value needs none.
	Access Access
	// Run does it. It is called at most once, after leave was given, and ends
	// promptly when ctx is cancelled. progress may be nil-safe called at any
	// time until Run returns.
	Run func(ctx context.Context, progress func(Progress)) (Result, error)
}

// Access is everything a call reads outside itself, changes or runs.
type Access struct {
	// Reads are absolute paths.
	Reads []string
	// Edits are the changes to files, one proposal a file.
	Edits []EditProposal
	// Command is the shell command to run.
	Command *Command
	// External names something that is neither a file nor a command, such as an
	// MCP tool; it always asks unless a rule allows it.
	External string
}

// targets are the paths and the command line that an access is about.
func (a Access) targets() (paths []string, command string) {
	paths = append(paths, a.Reads...)
	for _, e := range a.Edits {
		paths = append(paths, e.Path)
	}
	if a.Command != nil {
		command = a.Command.Line
	}
	return paths, command
}

// Location is a place in a file. Line is 1-based, 0 when there is none. Path is
// absolute.
type Location struct {
	Path string
	Line int
}

// Progress is output of a call that still runs.
type Progress struct {
	Output string
}

// Result is what a tool call brought.
type Result struct {
	// Text goes to the model.
	Text string
	// Images are shown to models that see them, as data: URLs.
	Images []string
	// Display is what the person sees instead of Text; empty shows Text.
	Display string
	// Locations replace those of the plan when a call found better ones.
	Locations []Location
	// Exit is set by calls that ran a command.
	Exit *ExitStatus
	// Entries replaces the session's plan; only the todo tool sets it.
	Entries []PlanEntry
	// Failed marks a result whose call did not do what was asked, such as a
	// command that exited non-zero.
	Failed bool
}

// ExitStatus is how a command ended.
type ExitStatus struct {
	Code   int
	Signal string // empty unless a signal ended it
}

// PlanEntry is one line of the agent's plan (its todo list).
type PlanEntry struct {
	ID      string
	Content string
	Status  EntryStatus
}

// EntryStatus is the state of a plan entry.
type EntryStatus string

// Plan entry states. The protocol has no cancelled; acp shows it as completed.
const (
	EntryPending    EntryStatus = "pending"
	EntryInProgress EntryStatus = "in_progress"
	EntryCompleted  EntryStatus = "completed"
	EntryCancelled  EntryStatus = "cancelled"
)
