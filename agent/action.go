package agent

import "time"

// Action is the record every tool call leaves: what was done, on what, and who
// or what allowed it. It holds no file content.
type Action struct {
	SessionID string
	CallID    string
	Tool      string
	// Paths are the absolute paths the call read or changed.
	Paths []string
	// Command is the command line of a call that ran one, secrets redacted.
	Command string
	Grant   Grant
	// Failure is why the call did not complete; empty when it did.
	Failure string
	Started time.Time
	Ended   time.Time
}
