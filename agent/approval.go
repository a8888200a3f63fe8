package agent

import (
	"context"
	"errors"
)

// Approver asks the person who sits at the client of one turn. It belongs to
// that turn and travels in its context, so that no answer can reach another
// session's question.
type Approver interface {
	// Ask shows the request and waits for an answer. It returns the id of the
	// chosen option as the client sent it, which need not be one that was
	// offered. Errors are ErrDismissed, ErrApprovalTimeout, or the context's
	// cause; every error is a denial.
	Ask(ctx context.Context, req PermissionRequest) (optionID string, err error)
}

// PermissionRequest is one question about one announced tool call.
type PermissionRequest struct {
	CallID  string
	Title   string
	Kind    ToolKind
	Reason  string // why it asks: "outside the workspace", "dangerous: deletes recursively"
	Access  Access
	Options []Option // in the order to show
}

// Option is one possible answer.
type Option struct {
	ID   string
	Name string
	Kind OptionKind
}

// OptionKind is the protocol's category of an option.
type OptionKind string

// Option kinds.
const (
	AllowOnce    OptionKind = "allow_once"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// ErrDismissed means that the client closed the question without an answer.
var ErrDismissed = errors.New("the permission request was dismissed")

// ErrApprovalTimeout means that no answer came in time. It is a denial, but one
// that nobody spoke.
var ErrApprovalTimeout = errors.New("no answer to the permission request in time")

type approverKey struct{}

// WithApprover returns a context that carries a turn's approver.
func WithApprover(ctx context.Context, a Approver) context.Context {
	return context.WithValue(ctx, approverKey{}, a)
}

// approverFrom returns the approver of the turn that ctx belongs to; nil when
// there is none, which denies.
func approverFrom(ctx context.Context) Approver {
	a, _ := ctx.Value(approverKey{}).(Approver)
	return a
}

// Mode is a session's policy for edits. Commands ask in every mode.
type Mode string

// Modes.
const (
	ModeDefault     Mode = "default"      // edits ask
	ModeAcceptEdits Mode = "accept_edits" // edits inside the workspace and temp are allowed
	ModeDontAsk     Mode = "dont_ask"     // edits are allowed
	ModePlan        Mode = "plan"         // nothing writes or runs
)

// Command is a shell command as its tool parsed it.
type Command struct {
	Line string
	Dir  string
	// Verdict is what the classifier found, Reason why, in words for the person.
	Verdict Verdict
	Reason  string
	// Words are the exact words of each simple command in Line, in order; nil
	// when the line holds anything that no rule may cover (a redirection that
	// writes, a substitution, an assignment, what does not parse).
	Words [][]string
	// Writes are paths the line visibly writes, absolute, for the comparison
	// with denied edits.
	Writes []string
}

// Verdict is a classifier's answer.
type Verdict int

// Verdicts. The zero value asks.
const (
	VerdictAsk   Verdict = iota
	VerdictSafe          // on the documented safe list, by parse
	VerdictNever         // hardline: never runs
)

// Grant says who or what allowed a call. It is kept with the call's action row.
type Grant string

// Grants.
const (
	GrantNotNeeded Grant = "not_needed" // the call needs no leave
	GrantPerson    Grant = "person"
	GrantMode      Grant = "mode"
	GrantRule      Grant = "rule"
	GrantSafeList  Grant = "safe_list"
	GrantDenied    Grant = "denied"
)
