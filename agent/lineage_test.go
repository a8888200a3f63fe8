package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chain is a set of sessions, by id.
type chain map[string]SessionLink

func (c chain) lookup(_ context.Context, id string) (SessionLink, error) {
	link, ok := c[id]
	if !ok {
		return SessionLink{}, ErrUnknownSession
	}
	link.ID = id
	return link, nil
}

// deep is a chain of n sessions s1 (the newest) ... sn, each compressed.
func deep(n int) chain {
	c := chain{}
	for i := 1; i <= n; i++ {
		link := SessionLink{EndReason: endCompression}
		if i < n {
			link.Parent = fmt.Sprintf("s%d", i+1)
		}
		c[fmt.Sprintf("s%d", i)] = link
	}
	return c
}

func TestTraceLineage(t *testing.T) {
	tests := []struct {
		name     string
		sessions chain
		current  string
		previous string
		want     Provenance
	}{
		{"root", chain{"a": {}}, "a", "", Provenance{Root: "a", Kind: KindRoot}},
		{
			"compressed once",
			chain{"a": {EndReason: endCompression}, "b": {Parent: "a"}},
			"b", "a",
			Provenance{Root: "a", Parent: "a", Kind: KindContinuation, CompressionDepth: 1, Previous: "a", Reason: endCompression, Creator: endCompression},
		},
		{
			"nothing rotated",
			chain{"a": {EndReason: endCompression}, "b": {Parent: "a"}},
			"b", "b",
			Provenance{Root: "a", Parent: "a", Kind: KindContinuation, CompressionDepth: 1, Previous: "b"},
		},
		{
			"compressed three times", deep(4), "s1", "",
			Provenance{Root: "s4", Parent: "s2", Kind: KindContinuation, CompressionDepth: 3},
		},
		{
			"child of a live parent",
			chain{"a": {}, "b": {Parent: "a"}},
			"b", "",
			Provenance{Root: "a", Parent: "a", Kind: KindRoot},
		},
		{
			"child of a closed parent",
			chain{"a": {EndReason: "user_exit"}, "b": {Parent: "a"}},
			"b", "",
			Provenance{Root: "a", Parent: "a", Kind: KindRoot},
		},
		{
			"fork of a session that was compressed later",
			chain{"a": {EndReason: endCompression}, "b": {Parent: "a", Branch: true}},
			"b", "",
			Provenance{Root: "a", Parent: "a", Kind: KindRoot, CompressionDepth: 1},
		},
		{
			"continuation of a fork",
			chain{"a": {}, "b": {Parent: "a", Branch: true, EndReason: endCompression}, "c": {Parent: "b"}},
			"c", "",
			Provenance{Root: "a", Parent: "b", Kind: KindContinuation, CompressionDepth: 1},
		},
		{
			"rollover",
			chain{"a": {EndReason: endRollover}, "b": {Parent: "a"}},
			"b", "a",
			Provenance{Root: "a", Parent: "a", Kind: KindContinuation, Previous: "a", Reason: endRollover, Creator: "rollover"},
		},
		{
			"recovered rollover",
			chain{"a": {EndReason: endRolloverRecovered}, "b": {Parent: "a"}},
			"b", "a",
			Provenance{Root: "a", Parent: "a", Kind: KindContinuation, Previous: "a", Reason: endRolloverRecovered, Creator: "rollover"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkTrace(t, tt.sessions, tt.current, tt.previous, tt.want) })
	}
}

func TestD20_BrokenChains(t *testing.T) {
	tests := []struct {
		name     string
		sessions chain
		want     Provenance
	}{
		{"missing parent", chain{"s1": {Parent: "gone"}}, Provenance{Root: "s1", Parent: "gone", Kind: KindRoot, Break: LineageMissing}},
		{
			"missing grandparent",
			chain{"s1": {Parent: "b"}, "b": {Parent: "gone", EndReason: endCompression}},
			Provenance{Root: "b", Parent: "b", Kind: KindContinuation, CompressionDepth: 1, Break: LineageMissing},
		},
		{"own parent", chain{"s1": {Parent: "s1"}}, Provenance{Root: "s1", Parent: "s1", Kind: KindRoot, Break: LineageCycle}},
		{
			"cycle",
			chain{"s1": {Parent: "b", EndReason: endCompression}, "b": {Parent: "c", EndReason: endCompression}, "c": {Parent: "s1"}},
			Provenance{Root: "c", Parent: "b", Kind: KindContinuation, CompressionDepth: 1, Break: LineageCycle},
		},
		{"100 ancestors", deep(101), Provenance{Root: "s101", Parent: "s2", Kind: KindContinuation, CompressionDepth: 100}},
		{"500 deep", deep(500), Provenance{Root: "s101", Parent: "s2", Kind: KindContinuation, CompressionDepth: 100, Break: LineageTooLong}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkTrace(t, tt.sessions, "s1", "", tt.want) })
	}
}

func checkTrace(t *testing.T, sessions chain, current, previous string, want Provenance) {
	t.Helper()
	want.SessionID, want.Current = "client", current
	got, err := TraceLineage(t.Context(), sessions.lookup, "client", current, previous)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTraceLineageErrors(t *testing.T) {
	if _, err := TraceLineage(t.Context(), chain{}.lookup, "client", "a", ""); !errors.Is(err, ErrUnknownSession) {
		t.Errorf("unknown session: %v", err)
	}
	broken := errors.New("disk")
	_, err := TraceLineage(t.Context(), func(_ context.Context, id string) (SessionLink, error) {
		if id == "a" {
			return SessionLink{ID: "a", Parent: "b"}, nil
		}
		return SessionLink{}, broken
	}, "client", "a", "")
	if !errors.Is(err, broken) {
		t.Errorf("a parent that cannot be read: %v", err)
	}
}
