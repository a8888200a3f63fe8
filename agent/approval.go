package agent

import (
	"context"
	"errors"
	"sync/atomic"
)

// Approver asks the person who sits at the client of one turn. It belongs to
// that turn and travels in its context, so that no answer can reach another
// session's question.
type Approver interface {
	// Ask shows the request and waits for an answer. It returns the id of the
	// chosen option as the client sent it, which need not be one that was
	// offered. Errors are ErrDismissed or the context's cause; every error is a
	// denial.
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

// Option ids. Clients and their scripts know them, so they never change.
const (
	optionAllowOnce   = "allow_once"
	optionAllowAlways = "allow_always"
	optionDeny        = "deny"
	optionDenyAlways  = "deny_always"
)

// Why a call got no leave. The texts go to the model, so they say what to do.
var (
	// ErrDenied means that the person said no.
	ErrDenied = errors.New("denied by the person: nothing was changed or run; do not try it another way, ask what they want instead")
	// ErrDismissed means that the client closed the question without an answer.
	ErrDismissed = errors.New("the permission request was dismissed: nothing was changed or run")
	// ErrApprovalTimeout means that no answer came in time. It is a denial, but
	// one that nobody spoke.
	ErrApprovalTimeout = errors.New("nobody answered the permission request in time: nothing was changed or run")
	// ErrUnknownOption means that the client answered with an option that was
	// not offered.
	ErrUnknownOption = errors.New("counted as a denial: nothing was changed or run")
	// ErrNoApprover means that the turn has nobody to ask.
	ErrNoApprover = errors.New("it needs leave and there is nobody to ask: nothing was changed or run")
	// ErrPlanMode means that the session is in plan mode.
	ErrPlanMode = errors.New("the session is in plan mode, in which nothing is written and nothing runs; describe the change instead")
	// ErrHardline means that the command never runs, whoever allows it.
	ErrHardline = errors.New("this command never runs here; if it is really wanted, the person has to run it in their own terminal")
	// ErrRuleDenies means that the person has denied the command for good.
	ErrRuleDenies = errors.New("the person never allows this; do not try it another way")
)

type approverKey struct{}

// turnApprover is an approver with what one turn has learnt about it.
type turnApprover struct {
	Approver
	// unanswered is set by the first question that timed out. The turn's later
	// ones are not waited for: a client that never answers costs one timeout.
	unanswered atomic.Bool
}

// WithApprover returns a context that carries a turn's approver.
func WithApprover(ctx context.Context, a Approver) context.Context {
	return context.WithValue(ctx, approverKey{}, &turnApprover{Approver: a})
}

// approverFrom returns the approver of the turn that ctx belongs to; nil when
// there is none, which denies.
func approverFrom(ctx context.Context) *turnApprover {
	a, _ := ctx.Value(approverKey{}).(*turnApprover)
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
	Dir  string // absolute
	// Verdict is what the classifier found, Reason why, in words for the person.
	Verdict Verdict
	Reason  string
	// Dangerous marks a line that no lasting rule may allow.
	Dangerous bool
	// Calls are the simple commands found in Line, at any depth, in order.
	Calls []SimpleCommand
	// Plain says that Line is these calls and nothing else: no redirection that
	// writes, no substitution, no assignment, nothing that did not parse. Only
	// a plain line can be allowed by rules.
	Plain bool
	// Writes are paths the line visibly writes, absolute, and not clean: links
	// decide what .. means.
	Writes []string
}

// SimpleCommand is one command of a line.
type SimpleCommand struct {
	Words []string // after quote removal, the command's name first
	Dir   string   // absolute: where it runs
	Safe  bool     // on the documented safe list
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
