package agent

import "context"

// ContextUse says how full a session's context window is, in tokens.
type ContextUse struct {
	Used   int
	Window int // 0 when unknown
	// Threshold is the size at which the conversation is compacted; 0 when the
	// window is unknown.
	Threshold int
	// Automatic says that it is compacted then by itself.
	Automatic bool
}

// ContextUse measures the session's conversation against its model's window.
func (s *Session) ContextUse(ctx context.Context) (ContextUse, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return ContextUse{}, err
	}
	model, err := s.agent.Model(ctx, rec.Model)
	if err != nil {
		return ContextUse{}, err
	}
	c := s.agent.cfg.Compaction
	window := model.Info().ContextWindow
	return ContextUse{Used: s.Size(), Window: window, Threshold: c.ThresholdTokens(window), Automatic: !c.Disabled}, nil
}
