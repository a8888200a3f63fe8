package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// spinner draws one line that moves while the agent works.
type spinner struct {
	stopped chan struct{}
	done    sync.WaitGroup

	// The rest is guarded by the UI's mutex.
	busy   bool
	paused bool // while a question is open
	drawn  bool
	frame  int
}

const spinnerPeriod = 100 * time.Millisecond

func (s *spinner) start(u *terminalUI) {
	s.stopped = make(chan struct{})
	s.done.Go(func() {
		tick := time.NewTicker(spinnerPeriod)
		defer tick.Stop()
		for {
			select {
			case <-s.stopped:
				return
			case <-tick.C:
				u.mu.Lock()
				s.frame++
				s.redraw(u)
				u.mu.Unlock()
			}
		}
	})
}

func (s *spinner) stop() {
	if s.stopped != nil {
		close(s.stopped)
		s.done.Wait()
	}
}

func (s *spinner) redraw(u *terminalUI) {
	s.erase(u)
	if !u.live || !s.busy || s.paused || u.midLine {
		return
	}
	label := "thinking"
	if n := len(u.running); n > 0 {
		label = u.calls[u.running[n-1]].title
		if n > 1 {
			label += fmt.Sprintf(" (+%d)", n-1)
		}
	}
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	u.print(u.cyan(string(frames[s.frame%len(frames)])) + " " + u.dim(u.fit(label)))
	s.drawn = true
}

func (s *spinner) erase(u *terminalUI) {
	if s.drawn {
		u.print("\r\x1b[2K")
		s.drawn = false
	}
}

// fit shortens a label to what remains of a terminal line beside the spinner.
func (u *terminalUI) fit(label string) string {
	width := 80
	if f, ok := u.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	label, _, _ = strings.Cut(label, "\n")
	if runes := []rune(label); len(runes) > width-4 {
		return string(runes[:max(0, width-5)]) + "…"
	}
	return label
}
