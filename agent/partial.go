package agent

import (
	"context"
	"strings"
	"sync"
	"time"
)

// partialInterval is how much of a streaming answer a crash may cost, in time.
const partialInterval = time.Second

// partialSaver keeps the answer that is streaming in the store, by timer and
// never by chunk: a stream of 20,000 chunks costs one write a second.
type partialSaver struct {
	save func(text string)

	mu    sync.Mutex
	text  strings.Builder
	timer *time.Timer
	saved sync.WaitGroup
}

func (r *run) savePartials(ctx context.Context) *partialSaver {
	return &partialSaver{save: func(text string) {
		msg := TextMessage(RoleAssistant, text)
		msg.Interrupted, msg.Time = true, time.Now()
		if err := r.store.SavePartial(context.WithoutCancel(ctx), r.session.id, msg); err != nil {
			r.session.agent.cfg.Log.WarnContext(ctx, "could not keep a partial answer", "session_id", r.session.id, "error", err)
		}
	}}
}

// add takes the next piece of the answer; what it takes is saved within
// partialInterval.
func (p *partialSaver) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.WriteString(text)
	if p.timer == nil {
		p.saved.Add(1)
		p.timer = time.AfterFunc(partialInterval, p.flush)
	}
}

func (p *partialSaver) flush() {
	defer p.saved.Done()
	p.mu.Lock()
	text := p.text.String()
	p.timer = nil
	p.mu.Unlock()
	p.save(text)
}

// stop ends the saving and waits for a save under way, so that none comes after
// the whole answer.
func (p *partialSaver) stop() {
	p.mu.Lock()
	if p.timer != nil && p.timer.Stop() {
		p.saved.Done()
	}
	p.mu.Unlock()
	p.saved.Wait()
}
