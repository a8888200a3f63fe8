// Package frames holds frames of the Agent Client Protocol as clients and agents send them, and what
// the bridge makes of them.
//
// A .txt file is a list of conversations. A conversation begins with a line
//
//	== NAME [| OPTION...]
//
// and has lines that begin with one of these:
//
//	-> a frame that the client sends
//	<- a frame that the agent sends
//	=> what then arrives at the agent; "=> same" when it is the same, byte for byte
//	<= what then arrives at the client, likewise; after "->" the bridge's own answer
//
// Options: mounts=default|later|none|lexical, drive=LETTER=TARGET, finds=PROGRAM, wslenv=VALUE,
// dormant, third-party, launcher=WORD,WORD...
//
// fields.tsv lists the fields of ACP v1 that hold or could be taken to hold a path, as its JSON schemas
// have them; a "when" that names a pointer and a value is the condition on which the field exists.
package frames

import "embed"

// Files holds the files of this folder.
//
//go:embed *.txt fields.tsv
var Files embed.FS
