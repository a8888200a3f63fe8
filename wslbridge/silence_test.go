package wslbridge

import (
	"log/slog"
	"testing"
	"time"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

func readMounts() pathxlate.MountTable { return pathxlate.AutomountRoot("/mnt/") }

func discardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestSilence(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	ticks := func(s *silence, from, to float64) (expired float64) {
		for second := from; second <= to; second++ {
			if s.tick(at(second), time.Second) {
				return second
			}
		}
		return -1
	}
	for name, tc := range map[string]struct {
		play func(s *silence) float64
		want float64 // second of the end, -1 for none
	}{
		"nothing comes": {func(s *silence) float64 { s.wait(start); return ticks(s, 0, 100) }, 45},
		"a heartbeat in time": {func(s *silence) float64 {
			s.wait(start)
			ticks(s, 0, 44)
			s.heard()
			s.wait(at(44))
			return ticks(s, 45, 100)
		}, 89},
		"the agent does not read": {func(s *silence) float64 {
			s.wait(start)
			s.heard()
			return ticks(s, 0, 1000)
		}, -1},
		"an hour of standby": {func(s *silence) float64 {
			s.wait(start)
			ticks(s, 0, 20)
			return ticks(s, 3600, 3700)
		}, 3645},
		"ticks that are a little late": {func(s *silence) float64 {
			s.wait(start)
			for second := 0.0; second <= 60; second += 25 {
				if s.tick(at(second), time.Second) {
					return second
				}
			}
			return -1
		}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.play(&silence{}); got != tc.want {
				t.Errorf("ended at second %v, want %v", got, tc.want)
			}
		})
	}
}
