package agent

import (
	"context"
	"fmt"
	"time"
)

// Fork creates a session with this one's messages, model and mode, in the
// client's cwd and directories.
func (s *Session) Fork(ctx context.Context, opts SessionOptions) (*Session, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return nil, err
	}
	rec.ID, rec.Cwd, rec.Dirs = NewID(), opts.Cwd, opts.Dirs
	rec.CreatedAt = time.Now()
	rec.UpdatedAt = rec.CreatedAt
	if err := store.ForkSession(ctx, s.id, rec); err != nil {
		return nil, fmt.Errorf("fork session %s: %w", s.id, err)
	}
	fork := s.agent.Session(rec.ID)
	if err := fork.restore(ctx); err != nil {
		return nil, err
	}
	fork.connectServers(opts)
	return fork, nil
}

// Close cancels the session's turns, waits for them to end, frees what this
// process holds of it and marks it as ended.
func (s *Session) Close(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	return s.leave(ctx, "close", Store.EndSession)
}

// Delete cancels the session's turns, waits for them to end and removes all that
// is kept of it. Deleting a session that does not exist is no error.
func (s *Session) Delete(ctx context.Context) error {
	return s.leave(ctx, "delete", Store.DeleteSession)
}

// leave ends what this process does with the session, then does the last thing
// to its row.
func (s *Session) leave(ctx context.Context, op string, last func(Store, context.Context, string) error) error {
	if err := s.idle(ctx); err != nil {
		return err
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return err
	}
	s.connectServers(SessionOptions{})
	if s.agent.cfg.SessionEnded != nil {
		s.agent.cfg.SessionEnded(s.id)
	}
	s.agent.forget(s)
	if err := last(store, ctx, s.id); err != nil {
		return fmt.Errorf("%s session %s: %w", op, s.id, err)
	}
	return nil
}

// idle cancels every turn and waits until none is left.
func (s *Session) idle(ctx context.Context) error {
	s.Cancel()
	last := s.Enqueue(Prompt{Command: func(context.Context) error { return nil }})
	out := last.Run(ctx)
	if out.Err == nil && out.Stop == StopCancelled {
		return context.Cause(ctx)
	}
	return out.Err
}
