package agent

import "encoding/json"

// EditProposal is one change to one file as it is shown to the person before
// anything is written. It is made once and never changed.
type EditProposal struct {
	// Tool is the name of the tool that wants the change.
	Tool string
	// Path is the absolute path as the call named it.
	Path string
	// Target is Path with its symbolic links resolved: the file that is written.
	Target string
	// Paths are all absolute paths the whole call touches, this one included;
	// policy looks at every one of them.
	Paths []string
	// OldText is the file's text before; nil when there is no such file.
	OldText *string
	// NewText is the text after; nil when the file is deleted.
	NewText *string
	// Arguments are the call's arguments as JSON.
	Arguments json.RawMessage
}
