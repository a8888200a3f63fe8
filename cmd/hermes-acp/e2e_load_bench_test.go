//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// One op is a page of the list of 10,000 sessions in 100 folders: of all of them,
// of one folder, and of a folder that has none. Issue target: 15 ms.
func BenchmarkListOf10000Sessions(b *testing.B) {
	home, cwd := b.TempDir(), b.TempDir()
	fillStore(b, home, cwd)
	c := benchAgent(b, append(agentEnv(b, "http://127.0.0.1:1/v1"), "HERMES_HOME="+home))
	benchSession(b, c, cwd)
	for _, page := range []struct {
		name, params string
		sessions     int
	}{
		{"all", `{}`, 50},
		{"folder", fmt.Sprintf(`{"cwd":%q}`, filepath.Join(cwd, "7")), 50},
		{"none", fmt.Sprintf(`{"cwd":%q}`, cwd), 0},
	} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				var list acpsdk.ListSessionsResponse
				if err := c.Call(b.Context(), "session/list", json.RawMessage(page.params), &list); err != nil || len(list.Sessions) != page.sessions {
					b.Fatal(len(list.Sessions), err)
				}
			}
		})
	}
	closeBenchAgent(b, c)
}

// fillStore makes 10,000 sessions of one message in 100 folders under cwd.
func fillStore(b *testing.B, home, cwd string) {
	b.Helper()
	db, err := store.Open(b.Context(), store.Options{Dir: home, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		id := fmt.Sprintf("s%05d", i)
		if err := db.CreateSession(b.Context(), agent.SessionRecord{ID: id, Cwd: filepath.Join(cwd, strconv.Itoa(i%100)), Title: "Session " + id}); err != nil {
			b.Fatal(err)
		}
		prompt := agent.TextMessage(agent.RoleUser, "hello")
		prompt.Time = time.Unix(int64(1_700_000_000+i), 0)
		if err := db.Append(b.Context(), id, true, prompt); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

// One op is a client that stops reading for five seconds while the model streams
// without end, and then cancels. Issue target: 16 MiB more memory.
func BenchmarkClientThatStopsReading(b *testing.B) {
	env := agentEnv(b, streamingModel(b, 1_000_000))
	grown := 0.0
	for b.Loop() {
		reads := make(chan struct{})
		cmd := exec.Command(builtProgram(b))
		cmd.Env = env
		c, err := acpclient.Start(cmd, acpclient.Options{OnUpdate: func(acpclient.Update) { <-reads }})
		if err != nil {
			b.Fatal(err)
		}
		session := benchSession(b, c, b.TempDir())
		before := residentMiB(b, cmd)
		stop := make(chan acpsdk.StopReason, 1)
		go func() {
			answer, err := c.Prompt(b.Context(), session, acpsdk.TextBlock("Go."))
			if err != nil {
				b.Error(err)
			}
			stop <- answer.StopReason
		}()
		time.Sleep(5 * time.Second)
		grown = max(grown, residentMiB(b, cmd)-before)
		close(reads)
		if err := c.Cancel(session); err != nil {
			b.Fatal(err)
		}
		if got := <-stop; got != acpsdk.StopReasonCancelled {
			b.Errorf("the turn ended with %q", got)
		}
		closeBenchAgent(b, c)
	}
	b.ReportMetric(grown, "agent-grows-MiB")
}

// residentMiB is the memory that a running process has in RAM.
func residentMiB(b *testing.B, cmd *exec.Cmd) float64 {
	b.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(cmd.Process.Pid)).Output()
	if err != nil {
		b.Skip("no ps here: ", err)
	}
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) / 1024
}
