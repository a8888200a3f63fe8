package agent

// StopReason is how a turn ended, in the protocol's words.
type StopReason string

// Stop reasons, strongest first.
const (
	StopCancelled       StopReason = "cancelled"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopEndTurn         StopReason = "end_turn"
)

// Outcome is what the turn loop returns. It is never read from the model's text
// or from state of the session. When Err is set the turn failed for good and
// Stop has no meaning.
type Outcome struct {
	Stop  StopReason
	Usage Usage
	Err   error
}
