//go:build linux

package main

import (
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// The same turns directly and through the bridge, in one run.

func BenchmarkBridgeTurn(b *testing.B)              { benchLanes(b, 1) }
func BenchmarkBridgeTurnOf20000Chunks(b *testing.B) { benchLanes(b, 20000) }

func benchLanes(b *testing.B, chunks int) {
	b.Helper()
	for _, l := range []lane{directLane, bridgeLane()} {
		b.Run(l.name, func(b *testing.B) {
			work := b.TempDir()
			cmd, err := l.command(builtProgram(b), work, agentEnv(b, streamingModel(b, chunks)))
			if err != nil {
				b.Fatal(err)
			}
			c, err := acpclient.Start(cmd, acpclient.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer closeBenchAgent(b, c)
			session := benchSession(b, c, l.spell(work))
			for b.Loop() {
				if _, err := c.Prompt(b.Context(), session, acpsdk.TextBlock("Go.")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
