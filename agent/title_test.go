package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestTitleModelWritesTheTitle(t *testing.T) {
	fails := func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
		return Completion{}, errors.New("overloaded")
	}
	for _, tt := range []struct {
		name, model string
		answer      step
		want        string
	}{
		{"written", "scripted", says("\n\"Renaming parse to decode\"\nI hope you like it."), "Renaming parse to decode"},
		{"too long", "scripted", says(strings.Repeat("word ", 20)), strings.TrimSpace(strings.Repeat("word ", 12)) + "…"},
		{"empty", "scripted", says(`""`), "Rename parse"},
		{"failed", "scripted", fails, "Rename parse"},
		{"unknown model", "nobody/serves-this", nil, "Rename parse"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps := []step{says("Done, it is decode now.")}
			if tt.answer != nil {
				steps = append(steps, tt.answer)
			}
			b := newBench(t, nil, append(steps, says("And the tests."))...)
			b.agent.cfg.TitleModel = tt.model
			for _, text := range []string{"Rename parse", "and the tests"} {
				if out := b.prompt(text).Run(t.Context()); out.Err != nil || out.Stop != StopEndTurn {
					t.Fatalf("outcome %+v", out)
				}
			}
			rec, err := b.Record(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(rec.Title, " #2"); got != tt.want { // the number is the store's
				t.Errorf("the title is %q, want %q", got, tt.want)
			}
			if asked := b.model.requests[1].Messages; tt.answer != nil && !strings.Contains(asked[len(asked)-1].Text(), "it is decode now") {
				t.Errorf("the title was made of %q", asked[len(asked)-1].Text())
			}
			if left := len(b.model.steps); left != 0 {
				t.Errorf("%d answers were not asked for", left)
			}
		})
	}
}
