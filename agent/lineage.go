package agent

import (
	"context"
	"errors"
)

// SessionLink is one Hermes session's place in its lineage.
type SessionLink struct {
	ID        string
	Parent    string // empty for a session that nothing came before
	EndReason string // empty while it is open
	// Branch says that the session branched off its parent, or was delegated by
	// it, and does not go on with its conversation.
	Branch bool
}

// Reasons for which a Hermes session ends because another one goes on with its
// conversation.
const (
	endCompression       = "compression"
	endRollover          = "turn_boundary_rollover"
	endRolloverRecovered = "turn_boundary_rollover_recovered"
)

// SessionKind says how a Hermes session began.
type SessionKind string

// Session kinds. A fork is a root of its own kind.
const (
	KindRoot         SessionKind = "root"
	KindContinuation SessionKind = "continuation"
)

// Provenance says where a conversation comes from: which Hermes session holds it
// now, and which ones came before.
type Provenance struct {
	SessionID string // the id the client knows
	Current   string // the Hermes session that holds the conversation now
	Root      string // the oldest one that can be reached from it
	Parent    string // as it stands in Current, also when there is no such row
	Kind      SessionKind
	// CompressionDepth counts the ancestors that compaction ended.
	CompressionDepth int
	// Previous is the Hermes session that held the conversation when the caller
	// last looked; empty when the caller did not say. When it is another one,
	// Reason and Creator say why.
	Previous string
	Reason   string
	Creator  string
	// Break says that the walk did not end at a session without a parent.
	Break LineageBreak
}

// LineageBreak is what is wrong with a chain of parents.
type LineageBreak string

// Lineage breaks.
const (
	LineageWhole   LineageBreak = ""
	LineageMissing LineageBreak = "a parent is missing"
	LineageCycle   LineageBreak = "a session is its own ancestor"
	LineageTooLong LineageBreak = "more than 100 ancestors"
)

const maxLineage = 100

// TraceLineage walks from the Hermes session current to its oldest ancestor. It
// looks up at most 100 parents and stops where the chain breaks, which Break then
// says. lookup returns ErrUnknownSession for a session that does not exist; for
// current itself that is the result.
func TraceLineage(ctx context.Context, lookup func(ctx context.Context, hermesID string) (SessionLink, error), sessionID, current, previous string) (Provenance, error) {
	link, err := lookup(ctx, current)
	if err != nil {
		return Provenance{}, err
	}
	p := Provenance{SessionID: sessionID, Current: current, Root: current, Parent: link.Parent, Kind: KindRoot, Previous: previous}
	rotated := previous != "" && previous != current
	if rotated {
		p.Reason, p.Creator = endCompression, endCompression
	}
	seen := map[string]bool{current: true}
	branch := link.Branch
	for steps := 0; link.Parent != ""; steps++ {
		if seen[link.Parent] {
			p.Break = LineageCycle
			break
		}
		if steps == maxLineage {
			p.Break = LineageTooLong
			break
		}
		link, err = lookup(ctx, link.Parent)
		if errors.Is(err, ErrUnknownSession) {
			p.Break = LineageMissing
			break
		}
		if err != nil {
			return Provenance{}, err
		}
		seen[link.ID] = true
		p.Root = link.ID
		if link.EndReason == endCompression {
			p.CompressionDepth++
		}
		if steps > 0 || branch {
			continue
		}
		switch link.EndReason {
		case endCompression:
			p.Kind = KindContinuation
		case endRollover, endRolloverRecovered:
			p.Kind = KindContinuation
			if rotated {
				p.Reason, p.Creator = link.EndReason, "rollover"
			}
		}
	}
	return p, nil
}
