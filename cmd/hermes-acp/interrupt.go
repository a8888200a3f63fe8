package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts turns Ctrl-C into an order of retreat: while something can be
// cancelled in order, the first one does that; any other ends the context.
type interrupts struct {
	signals chan os.Signal
	done    sync.WaitGroup

	mu    sync.Mutex
	first func()
}

// catchInterrupts returns a context that ends with errInterrupted. stop must be
// called to give the signals back.
func catchInterrupts(ctx context.Context) (_ context.Context, _ *interrupts, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &interrupts{signals: make(chan os.Signal, 2)}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	i.done.Go(func() {
		for sig := range i.signals {
			if first := i.takeFirst(); first != nil && sig == os.Interrupt {
				first()
				continue
			}
			cancel(errInterrupted)
		}
	})
	return ctx, i, func() {
		signal.Stop(i.signals)
		close(i.signals)
		i.done.Wait()
		cancel(nil)
	}
}

// onFirst has f called at the next Ctrl-C instead of ending the context, until
// the function that it returns is called.
func (i *interrupts) onFirst(f func()) (restore func()) {
	i.set(f)
	return func() { i.set(nil) }
}

func (i *interrupts) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.first = f
}

func (i *interrupts) takeFirst() func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.first
	i.first = nil
	return f
}
