package store

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// soak is set by the lane of that name, which takes its time.
func soak() bool { return os.Getenv("HERMES_ACP_SOAK") != "" }

func TestD10_KilledAfterEachStepOfATurn(t *testing.T) {
	for k, step := range turnSteps() {
		t.Run(step.name, func(t *testing.T) {
			dir := t.TempDir()
			child := start(t, "steps", dir, "s1")
			for i := range k + 1 {
				if i > 0 {
					_, _ = fmt.Fprintln(child.stdin)
				}
				child.next(t)
			}
			// Beside the living process the turn is seen as it runs.
			db := openIn(t, dir)
			if msgs := messagesOf(t, db, "s1"); step.name != "answer" && len(msgs) > 0 && msgs[len(msgs)-1].Authored {
				t.Errorf("a turn that runs elsewhere was closed: %q", lines(msgs))
			}
			_ = child.cmd.Process.Kill()
			_ = child.cmd.Wait()
			if diff := cmp.Diff(step.left, lines(messagesOf(t, db, "s1"))); diff != "" {
				t.Errorf("after the kill (-want +got):\n%s", diff)
			}
			appendAll(t, db, "s1", false, user("again"))
			appendAll(t, db, "s1", true, assistant("yes"))
			want := slices.Concat(step.left, []string{"user: again", "assistant: yes"})
			if diff := cmp.Diff(want, lines(messagesOf(t, openIn(t, dir), "s1"))); diff != "" {
				t.Errorf("one turn later (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKillAtRandomPoints kills a busy process again and again. After each kill
// the file is whole, and so is every turn that was answered.
func TestKillAtRandomPoints(t *testing.T) {
	kills := 40
	if soak() {
		kills = 200
	}
	if testing.Short() {
		kills = 5
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for k := range kills {
		prefix := fmt.Sprintf("k%d", k)
		child := start(t, "busy", dir, prefix)
		answered := map[string][]string{} // turns, by session
		note := func(line string) {
			id, n, _ := strings.Cut(line, " ")
			answered[id] = append(answered[id], n)
		}
		for range random.IntN(30) {
			note(child.next(t))
		}
		time.AfterFunc(time.Duration(random.IntN(4000))*time.Microsecond, func() { _ = child.cmd.Process.Kill() })
		for _, line := range child.rest() {
			if strings.HasPrefix(line, "error:") {
				t.Fatal(line)
			}
			note(line)
		}
		_ = child.cmd.Wait()

		db, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatalf("kill %d: %v", k, err)
		}
		for id, turns := range answered {
			checkAnswered(t, db, id, turns)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if got := query(t, dir, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("integrity_check: %s", got)
	}
}

// checkAnswered looks for every answered turn in all rows of a conversation,
// those that compaction put away too, and at the order of the active ones.
func checkAnswered(t *testing.T, db *DB, id string, turns []string) {
	t.Helper()
	msgs := messagesOf(t, db, id)
	open := map[string]bool{}
	for i, m := range msgs {
		switch {
		case m.Role == agent.RoleTool && !open[m.ToolCallID]:
			t.Errorf("session %s: row %d is the result of no call", id, i)
		case m.Role == agent.RoleTool:
			delete(open, m.ToolCallID)
		case len(open) > 0:
			t.Errorf("session %s: row %d comes before the results of the calls", id, i)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(msgs) == 0 || msgs[len(msgs)-1].Role != agent.RoleAssistant {
		t.Errorf("session %s ends on an open row: %q", id, lines(msgs))
	}
	for _, n := range turns {
		for _, text := range []string{"question " + n, "answer " + n} {
			var found int
			err := db.readers.QueryRowContext(t.Context(), `WITH RECURSIVE part (id) AS (
				SELECT ? UNION SELECT s.id FROM sessions s JOIN part ON s.parent_session_id = part.id)
				SELECT count(*) FROM messages WHERE session_id IN (SELECT id FROM part) AND content = ?`, id, text).Scan(&found)
			if err != nil || found == 0 {
				t.Errorf("session %s: %q was answered and is lost (%v)", id, text, err)
			}
		}
	}
}

func TestD01_TwoProcessesWrite(t *testing.T) { writeTogether(t, 2, 200) }

func TestEightProcessesWrite(t *testing.T) { writeTogether(t, 8, 50) }

// writeTogether lets processes answer turns in one file at the same time; in the
// soak lane for about half a minute.
func writeTogether(t *testing.T, processes, turns int) {
	t.Helper()
	if soak() {
		turns *= 40
	}
	if testing.Short() {
		turns /= 10
	}
	dir := t.TempDir()
	var children []*process
	for i := range processes {
		children = append(children, start(t, "append", dir, fmt.Sprintf("p%d", i), fmt.Sprint(turns)))
	}
	for i, child := range children {
		if output := child.rest(); len(output) > 0 {
			t.Errorf("process %d: %q", i, output)
		}
		if err := child.cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if got := query(t, dir, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("integrity_check: %s", got)
	}
	db := openIn(t, dir)
	for i := range processes {
		id := fmt.Sprintf("p%d", i)
		var want []string
		for n := range turns {
			want = append(want, fmt.Sprintf("user: question %d", n), fmt.Sprintf("assistant: answer %d", n))
		}
		if diff := cmp.Diff(want, lines(messagesOf(t, db, id))); diff != "" {
			t.Errorf("session %s (-want +got):\n%s", id, diff)
		}
	}
}

func TestD08_AnotherProcessHoldsTheFile(t *testing.T) {
	dir := t.TempDir()
	db, err := open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}, machine{stat: statFileSystem, busyTimeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, db)
	newSession(t, db, "s1")
	holder := start(t, "hold", dir)
	holder.next(t)
	// Many times the wait of one attempt: the write has to try again.
	time.AfterFunc(300*time.Millisecond, func() { _ = holder.stdin.Close() })
	appendAll(t, db, "s1", false, user("q"))
	appendAll(t, db, "s1", true, assistant("a"))
	if diff := cmp.Diff([]string{"user: q", "assistant: a"}, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}

func TestD09_LockFileOfADeadProcess(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	if err := os.MkdirAll(filepath.Join(dir, "acp-locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "acp-locks", lockName("s1")), []byte("999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, "s1", true, user("q"), assistant("a"))
}
