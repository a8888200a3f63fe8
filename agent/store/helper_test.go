package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Tests that need a second process start this binary again, with the name of a
// helper and its arguments in the environment. A helper reports on stdout and
// ends when its stdin is closed or it is done.
const (
	helperEnv = "HERMES_ACP_STORE_HELPER"
	argsEnv   = "HERMES_ACP_STORE_ARGS"
)

func runHelper(name string) (exitCode int) {
	helper := map[string]func(context.Context, []string) error{
		"append": helpAppend,
		"steps":  helpSteps,
		"busy":   helpBusy,
		"hold":   helpHold,
		"alter":  helpAlter,
		"fill":   helpFill,
		"write":  helpWrite,
	}[name]
	if err := helper(context.Background(), strings.Split(os.Getenv(argsEnv), "\n")); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// process is a running helper.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func helperCommand(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), helperEnv+"="+name, argsEnv+"="+strings.Join(args, "\n"))
	return cmd
}

func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	cmd := helperCommand(t, name, args...)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &process{cmd, stdin, bufio.NewScanner(stdout)}
}

// next is the helper's next line.
func (p *process) next(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the helper ended: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// rest reads until the helper ends.
func (p *process) rest() (lines []string) {
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	return lines
}

func helperDB(ctx context.Context, dir string) (*DB, error) {
	return Open(ctx, Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
}

// helpAppend DIR SESSION TURNS answers turns of one session it makes.
func helpAppend(ctx context.Context, args []string) error {
	db, err := helperDB(ctx, args[0])
	if err != nil {
		return err
	}
	turns, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	if err := db.CreateSession(ctx, agent.SessionRecord{ID: args[1], Cwd: "/work"}); err != nil {
		return err
	}
	for n := range turns {
		if err := db.Append(ctx, args[1], false, user(fmt.Sprintf("question %d", n))); err != nil {
			return err
		}
		if err := db.Append(ctx, args[1], true, assistant(fmt.Sprintf("answer %d", n))); err != nil {
			return err
		}
	}
	return db.Close()
}

// helpSteps DIR SESSION writes one turn step by step; it says what it has written
// and goes on when it gets a line.
func helpSteps(ctx context.Context, args []string) error {
	db, err := helperDB(ctx, args[0])
	if err != nil {
		return err
	}
	if err := db.CreateSession(ctx, agent.SessionRecord{ID: args[1], Cwd: "/work"}); err != nil {
		return err
	}
	stdin := bufio.NewScanner(os.Stdin)
	for _, step := range turnSteps() {
		if err := step.do(ctx, db, args[1]); err != nil {
			return err
		}
		fmt.Println(step.name)
		if !stdin.Scan() {
			return nil
		}
	}
	return nil
}

type turnStep struct {
	name string
	do   func(ctx context.Context, db *DB, id string) error
	// left is what another process finds when this step was the last.
	left []string
}

func turnSteps() []turnStep {
	add := func(final bool, msgs ...agent.Message) func(context.Context, *DB, string) error {
		return func(ctx context.Context, db *DB, id string) error { return db.Append(ctx, id, final, msgs...) }
	}
	partial := func(text string) func(context.Context, *DB, string) error {
		return func(ctx context.Context, db *DB, id string) error { return db.SavePartial(ctx, id, assistant(text)) }
	}
	const closing = "assistant: " + noAnswer + " authored"
	return []turnStep{
		{"prompt", add(false, user("go")), []string{"user: go", closing}},
		{"first words", partial("I will"), []string{"user: go", "assistant: I will interrupted"}},
		{"more words", partial("I will read"), []string{"user: go", "assistant: I will read interrupted"}},
		{"calls", add(false, calls("c1", "c2")), []string{
			"user: go", "assistant:  call c1 call c2", "tool: " + noResult + " for c1 failed", "tool: " + noResult + " for c2 failed", closing,
		}},
		{"first result", add(false, result("c1", "one")), []string{
			"user: go", "assistant:  call c1 call c2", "tool: one for c1", "tool: " + noResult + " for c2 failed", closing,
		}},
		{"second result", add(false, result("c2", "two")), []string{
			"user: go", "assistant:  call c1 call c2", "tool: one for c1", "tool: two for c2", closing,
		}},
		{"answer", add(true, assistant("done")), []string{
			"user: go", "assistant:  call c1 call c2", "tool: one for c1", "tool: two for c2", "assistant: done",
		}},
	}
}

// helpBusy DIR PREFIX answers turns in four sessions until it is killed, and
// prints "SESSION TURN" after each.
func helpBusy(ctx context.Context, args []string) error {
	db, err := helperDB(ctx, args[0])
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", args[1], n%4)
		if n < 4 {
			if err := db.CreateSession(ctx, agent.SessionRecord{ID: id, Cwd: "/work", Title: "Busy"}); err != nil {
				return err
			}
		}
		call := fmt.Sprintf("c%d", n)
		if err := errors.Join(
			db.Append(ctx, id, false, user(fmt.Sprintf("question %d", n))),
			db.SavePartial(ctx, id, assistant("hm")),
			db.Append(ctx, id, false, calls(call)),
			db.Append(ctx, id, false, result(call, prose(n, 500))),
			db.Append(ctx, id, true, assistant(fmt.Sprintf("answer %d", n))),
		); err != nil {
			return err
		}
		fmt.Println(id, n)
		if n%10 == 9 {
			if err := db.Compact(ctx, id, []agent.Message{user(fmt.Sprintf("summary %d", n)), assistant(fmt.Sprintf("answer %d", n))}, n%20 == 9); err != nil {
				return err
			}
			if err := db.Append(ctx, id, true); err != nil {
				return err
			}
		}
	}
}

// helpHold DIR holds the file's write lock until its stdin is closed.
func helpHold(ctx context.Context, args []string) error {
	db, err := sql.Open("sqlite", filepath.Join(args[0], FileName)+"?_txlock=immediate")
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(tx.Rollback(), db.Close())
}

// helpAlter DIR dies in the middle of a migration.
func helpAlter(ctx context.Context, args []string) error {
	db, err := helperDB(ctx, args[0])
	if err != nil {
		return err
	}
	return inTx(ctx, db.writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, laterMigration.script); err != nil {
			return err
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		_ = self.Kill()
		select {}
	})
}

var laterMigration = migration{"0002_later", `ALTER TABLE acp_rules ADD COLUMN note TEXT`}

// helpFill DIR LIMIT appends finished turns until one fails, under a limit of the
// file size in bytes, and says how many were answered and why the last was not.
func helpFill(ctx context.Context, args []string) error {
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	db, err := helperDB(ctx, args[0])
	if err != nil {
		return err
	}
	if err := db.CreateSession(ctx, agent.SessionRecord{ID: "s1", Cwd: "/work"}); err != nil {
		return err
	}
	if err := limitFileSize(limit); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := db.Append(ctx, "s1", true, user(prose(n, 2000)), assistant(fmt.Sprintf("answer %d", n))); err != nil {
			fmt.Println(n, errors.Is(err, ErrDiskFull), err)
			return nil
		}
	}
}

// helpWrite DIR tries to open the store and to make a session, and says how that
// failed.
func helpWrite(ctx context.Context, args []string) error {
	db, err := helperDB(ctx, args[0])
	if err == nil {
		err = db.CreateSession(ctx, agent.SessionRecord{ID: "new", Cwd: "/work"})
	}
	fmt.Println(errors.Is(err, ErrReadOnly), err)
	return nil
}
