package agent

import "encoding/json"

// EditProposal is one change to one file as it is shown to the person before
// anything is written. It is made once and never changed.
type EditProposal struct {
	// Tool is the name of the tool that wants the change.
	Tool string
	// Path is Target as it is shown to the person: below a root of the workspace
	// in that root's own spelling, which may be a link.
	Path string
	// Target is the file that is written, absolute, symbolic links resolved.
	Target string
	// Paths are all absolute paths the whole call names, as it names them;
	// policy looks at every one of them.
	Paths []string
	// OldText is the file's text before; nil when there is no such file.
	OldText *string
	// NewText is the text after; nil when the file is deleted.
	NewText *string
	// Arguments are the call's arguments as JSON.
	Arguments json.RawMessage
}
