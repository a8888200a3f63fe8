package agent

// Event is something a client is told while a turn runs. Events of a session
// are delivered in order, from one goroutine.
type Event interface{ event() }

// TextDelta is a piece of the model's answer. All deltas of one message share
// MessageID.
type TextDelta struct{ MessageID, Text string }

// ThoughtDelta is a piece of the model's reasoning.
type ThoughtDelta struct{ MessageID, Text string }

// CallStarted announces a tool call, before anything asks or runs.
type CallStarted struct{ Call CallInfo }

// CallRunning says that a call got leave and runs now.
type CallRunning struct{ CallID string }

// CallOutput is output of a running call.
type CallOutput struct{ CallID, Output string }

// CallEnded closes a call. It is sent exactly once for each CallStarted, before
// the turn's outcome.
type CallEnded struct {
	Call   CallInfo
	Result Result
	// Err is why the call did not complete: a denial, a timeout, bad
	// arguments. Nil when Run returned a result.
	Err error
}

// PlanChanged carries the complete plan.
type PlanChanged struct{ Entries []PlanEntry }

// UsageChanged carries the size of the conversation in tokens and what it has cost.
// Window and CostUSD are 0 when unknown.
type UsageChanged struct {
	Used, Window int
	CostUSD      float64
}

// CompactionChanged tells how the compaction of a conversation goes. Summary is
// set when it is done, Err when it failed.
type CompactionChanged struct {
	ID      string
	State   CompactionState
	Summary string
	Err     error
}

// CompactionState is where a compaction stands.
type CompactionState string

// Compaction states, in the protocol's words.
const (
	CompactionRunning   CompactionState = "in_progress"
	CompactionDone      CompactionState = "completed"
	CompactionFailed    CompactionState = "failed"
	CompactionCancelled CompactionState = "cancelled"
)

// Notice is a line for the person that is not the model's words.
type Notice struct{ Text string }

// InfoChanged tells a new title.
type InfoChanged struct{ Title string }

// CallInfo is what is known of a tool call.
type CallInfo struct {
	ID        string
	Tool      string
	Kind      ToolKind
	Title     string
	Locations []Location
	Access    Access
	// Arguments is the JSON text as the model wrote it.
	Arguments string
	// Known is false for a tool that does not exist.
	Known bool
}

func (TextDelta) event()         {}
func (ThoughtDelta) event()      {}
func (CallStarted) event()       {}
func (CallRunning) event()       {}
func (CallOutput) event()        {}
func (CallEnded) event()         {}
func (PlanChanged) event()       {}
func (UsageChanged) event()      {}
func (CompactionChanged) event() {}
func (Notice) event()            {}
func (InfoChanged) event()       {}
