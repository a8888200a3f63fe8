package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answers is an approver that gives the same answer to every question and
// keeps the questions.
type answers struct {
	id    string
	err   error
	asked []PermissionRequest
}

func (a *answers) Ask(_ context.Context, req PermissionRequest) (string, error) {
	a.asked = append(a.asked, req)
	return a.id, a.err
}

// silent is an approver whose client never answers.
type silent struct{ asked int }

func (s *silent) Ask(ctx context.Context, _ PermissionRequest) (string, error) {
	s.asked++
	<-ctx.Done()
	return "", context.Cause(ctx)
}

// memoryRules keeps rules in memory.
type memoryRules struct{ rules []Rule }

func (m *memoryRules) Rules(_ context.Context, dir string) ([]Rule, error) {
	return slices.DeleteFunc(slices.Clone(m.rules), func(r Rule) bool { return r.Dir != dir }), nil
}

func (m *memoryRules) AddRule(_ context.Context, rule Rule) error {
	m.rules = append(m.rules, rule)
	return nil
}

// policyFixture is a workspace, an outside folder and a home on disk.
type policyFixture struct {
	approvals          *Approvals
	ws                 *Workspace
	rules              *memoryRules
	cwd, outside, temp string
	home, free         string
}

func newPolicyFixture(t *testing.T) *policyFixture {
	t.Helper()
	base, err := ResolveLinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &policyFixture{rules: &memoryRules{}}
	for name, dir := range map[string]*string{"ws": &f.cwd, "outside": &f.outside, "temp": &f.temp, "anna": &f.home, "usr": &f.free} {
		*dir = filepath.Join(base, name)
		if err := os.Mkdir(*dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.ws = &Workspace{SessionID: "s", Cwd: f.cwd}
	f.approvals = NewApprovals(Policy{Rules: f.rules, Home: f.home, TempDirs: []string{f.temp}, FreeReads: []string{f.free}})
	return f
}

func edits(paths ...string) CallInfo {
	call := CallInfo{ID: "call", Tool: "patch", Kind: KindEdit, Known: true}
	for _, path := range paths {
		target, err := ResolveLinks(path)
		if err != nil {
			target = path
		}
		text := "new"
		call.Access.Edits = append(call.Access.Edits, EditProposal{Path: path, Target: target, Paths: paths, NewText: &text})
	}
	return call
}

func reads(paths ...string) CallInfo {
	return CallInfo{ID: "call", Tool: "read_file", Kind: KindRead, Known: true, Access: Access{Reads: paths}}
}

func command(dir, line string, words ...[]string) CallInfo {
	cmd := &Command{Line: line, Dir: dir, Plain: len(words) > 0}
	for _, w := range words {
		cmd.Calls = append(cmd.Calls, SimpleCommand{Words: w, Dir: dir})
	}
	return CallInfo{ID: "call", Tool: "terminal", Kind: KindExecute, Known: true, Access: Access{Command: cmd}}
}

func (f *policyFixture) allow(t *testing.T, a Approver, call CallInfo, mode Mode) (Grant, error) {
	t.Helper()
	return f.approvals.Allow(WithApprover(t.Context(), a), call, f.ws, mode)
}

func offered(req PermissionRequest) []string {
	var ids []string
	for _, o := range req.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

func TestModesGovernEdits(t *testing.T) {
	f := newPolicyFixture(t)
	inside, outside, temp := filepath.Join(f.cwd, "a.go"), filepath.Join(f.outside, "a.go"), filepath.Join(f.temp, "a.go")
	env := filepath.Join(f.cwd, ".env")
	for _, tc := range []struct {
		name  string
		mode  Mode
		paths []string
		want  Grant // GrantDenied: it asked, and the person said no
	}{
		{"default asks inside", ModeDefault, []string{inside}, GrantDenied},
		{"default asks in temp", ModeDefault, []string{temp}, GrantDenied},
		{"accept edits allows inside", ModeAcceptEdits, []string{inside}, GrantMode},
		{"accept edits allows temp", ModeAcceptEdits, []string{temp}, GrantMode},
		{"accept edits asks outside", ModeAcceptEdits, []string{outside}, GrantDenied},
		{"accept edits asks when one of two is outside", ModeAcceptEdits, []string{inside, outside}, GrantDenied},
		{"accept edits asks for .env", ModeAcceptEdits, []string{env}, GrantDenied},
		{"accept edits asks when one of two is sensitive", ModeAcceptEdits, []string{inside, env}, GrantDenied},
		{"dont ask allows outside", ModeDontAsk, []string{outside}, GrantMode},
		{"dont ask asks for .env", ModeDontAsk, []string{env}, GrantDenied},
		{"an unknown mode asks", Mode("bogus"), []string{inside}, GrantDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f.approvals = NewApprovals(f.approvals.policy)
			person := &answers{id: optionDeny}
			grant, err := f.allow(t, person, edits(tc.paths...), tc.mode)
			if grant != tc.want {
				t.Errorf("grant %q, want %q", grant, tc.want)
			}
			if denied := tc.want == GrantDenied; denied != errors.Is(err, ErrDenied) || denied != (len(person.asked) == 1) {
				t.Errorf("asked %d times, error %v", len(person.asked), err)
			}
		})
	}
}

func TestPlanModeNeitherWritesNorRuns(t *testing.T) {
	f := newPolicyFixture(t)
	person := &answers{id: optionAllowOnce}
	safe := command(f.cwd, "ls", []string{"ls"})
	safe.Access.Command.Verdict = VerdictSafe
	external := CallInfo{Tool: "mcp_x_y", Access: Access{External: "mcp_x_y"}}
	for _, call := range []CallInfo{edits(filepath.Join(f.cwd, "a")), safe, external} {
		if _, err := f.allow(t, person, call, ModePlan); !errors.Is(err, ErrPlanMode) {
			t.Errorf("%s: error %v", call.Tool, err)
		}
	}
	if grant, err := f.allow(t, person, reads(filepath.Join(f.cwd, "a")), ModePlan); grant != GrantNotNeeded || err != nil {
		t.Errorf("a read in the workspace: %q, %v", grant, err)
	}
	if len(person.asked) != 0 {
		t.Errorf("plan mode asked %d questions", len(person.asked))
	}
}

// Hermes wants every spelling and every alias of a sensitive file to ask, also
// where the mode allows edits (NousResearch/hermes-agent#63438).
func TestE03_SensitivePathsAskInEveryMode(t *testing.T) {
	f := newPolicyFixture(t)
	if err := os.Symlink(filepath.Join(f.cwd, ".envrc"), filepath.Join(f.cwd, "alias")); err != nil {
		t.Skip("symbolic links are not available:", err)
	}
	if err := os.Mkdir(filepath.Join(f.cwd, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(f.cwd, ".git"), filepath.Join(f.cwd, "dir")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(f.home, ".bashrc"), filepath.Join(f.home, ".anything"),
		filepath.Join(f.cwd, ".envrc"), filepath.Join(f.cwd, ".NPMRC"), filepath.Join(f.cwd, "sub", ".gitconfig"),
		filepath.Join(f.home, ".ssh", "config"), filepath.Join(f.cwd, ".git", "hooks", "pre-commit"),
		filepath.Join(f.home, ".config", "autostart", "x.desktop"),
		filepath.Join(f.cwd, ".GIT", "config"), filepath.Join(f.cwd, "GIT~1", "config"),
		filepath.Join(f.cwd, ".env."), filepath.Join(f.cwd, ".env "),
		filepath.Join(f.cwd, "alias"), filepath.Join(f.cwd, "dir", "config"),
	} {
		person := &answers{id: optionAllowOnce}
		grant, err := f.allow(t, person, edits(path), ModeDontAsk)
		if err != nil || grant != GrantPerson || len(person.asked) != 1 {
			t.Errorf("%s: grant %q, error %v, asked %d times", path, grant, err, len(person.asked))
			continue
		}
		if diff := cmp.Diff([]string{optionAllowOnce, optionDeny}, offered(person.asked[0])); diff != "" {
			t.Errorf("%s: options (-want +got)\n%s", path, diff)
		}
	}
}

// The agent's own settings ask like keys do, wherever HERMES_HOME puts them.
func TestOwnStateAsks(t *testing.T) {
	f := newPolicyFixture(t)
	f.approvals.policy.StateDir = filepath.Join(f.outside, "state")
	settings := filepath.Join(f.outside, "state", "config.yaml")
	for _, call := range []CallInfo{edits(settings), reads(settings), command(f.cwd, "tool "+settings, []string{"tool", settings})} {
		person := &answers{id: optionAllowOnce}
		if _, err := f.allow(t, person, call, ModeDontAsk); err != nil || len(person.asked) != 1 || !strings.Contains(person.asked[0].Reason, "sensitive") {
			t.Errorf("%s: error %v, asked %+v", call.Tool, err, person.asked)
		}
	}
}

// One answer covers a session's later edits, and nothing else
// (NousResearch/hermes-agent#29410).
func TestE34_AllowAlwaysCoversEditsOfThisSession(t *testing.T) {
	f := newPolicyFixture(t)
	person := &answers{id: optionAllowAlways}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		if _, err := f.allow(t, person, edits(filepath.Join(f.cwd, name)), ModeDefault); err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
	}
	if len(person.asked) != 1 {
		t.Errorf("asked %d times for five edits", len(person.asked))
	}
	if diff := cmp.Diff([]string{optionAllowOnce, optionAllowAlways, optionDeny}, offered(person.asked[0])); diff != "" {
		t.Errorf("options (-want +got)\n%s", diff)
	}

	person.id = optionAllowOnce
	for _, path := range []string{filepath.Join(f.cwd, ".env"), filepath.Join(f.outside, "a")} {
		before := len(person.asked)
		if _, err := f.allow(t, person, edits(path), ModeDefault); err != nil || len(person.asked) != before+1 {
			t.Errorf("%s: asked %d times, error %v", path, len(person.asked)-before, err)
		}
	}
	other := NewApprovals(f.approvals.policy)
	before := len(person.asked)
	if _, err := other.Allow(WithApprover(t.Context(), person), edits(filepath.Join(f.cwd, "a")), f.ws, ModeDefault); err != nil || len(person.asked) != before+1 {
		t.Errorf("another session: asked %d times, error %v", len(person.asked)-before, err)
	}
}

func TestReadsAskOutsideTheWorkspace(t *testing.T) {
	f := newPolicyFixture(t)
	for _, path := range []string{filepath.Join(f.cwd, "x"), filepath.Join(f.temp, "x"), filepath.Join(f.free, "x"), f.cwd} {
		if grant, err := f.allow(t, nil, reads(path), ModeDefault); grant != GrantNotNeeded || err != nil {
			t.Errorf("%s: %q, %v", path, grant, err)
		}
	}
	person := &answers{id: optionAllowAlways}
	for _, name := range []string{"a", "b", "sub/c"} {
		if _, err := f.allow(t, person, reads(filepath.Join(f.outside, name)), ModeDefault); err != nil {
			t.Error(err)
		}
	}
	if len(person.asked) != 1 {
		t.Errorf("asked %d times for one folder", len(person.asked))
	}
	sibling := f.outside + "-too" // a prefix by text, not a folder inside
	if _, err := f.allow(t, person, reads(filepath.Join(sibling, "x")), ModeDefault); err != nil || len(person.asked) != 2 {
		t.Errorf("asked %d times, error %v", len(person.asked), err)
	}
	sensitive := &answers{id: optionAllowOnce}
	for range 2 {
		if _, err := f.allow(t, sensitive, reads(filepath.Join(f.cwd, ".env")), ModeDefault); err != nil {
			t.Error(err)
		}
	}
	if len(sensitive.asked) != 2 || !slices.Equal(offered(sensitive.asked[0]), []string{optionAllowOnce, optionDeny}) {
		t.Errorf("a sensitive read asked %d times, options %v", len(sensitive.asked), offered(sensitive.asked[0]))
	}
}

func TestCommandRulesAreExact(t *testing.T) {
	f := newPolicyFixture(t)
	goTest := []string{"go", "test"}
	person := &answers{id: optionAllowAlways}
	if grant, err := f.allow(t, person, command(f.cwd, "go test", goTest), ModeDefault); grant != GrantPerson || err != nil {
		t.Fatal(grant, err)
	}
	if diff := cmp.Diff([]string{optionAllowOnce, optionAllowAlways, optionDeny, optionDenyAlways}, offered(person.asked[0])); diff != "" {
		t.Errorf("options (-want +got)\n%s", diff)
	}
	if got, want := person.asked[0].Options[1].Name, "Always allow `go test`"; got != want {
		t.Errorf("option named %q, want %q", got, want)
	}
	if diff := cmp.Diff([]Rule{{Dir: f.cwd, Words: goTest, Allow: true}}, f.rules.rules); diff != "" {
		t.Errorf("rules (-want +got)\n%s", diff)
	}

	redirected := command(f.cwd, "go test > x", goTest)
	redirected.Access.Command.Plain = false
	dangerous := command(f.cwd, "go test", goTest)
	dangerous.Access.Command.Dangerous = true
	for _, tc := range []struct {
		name string
		call CallInfo
		want Grant
	}{
		{"the same", command(f.cwd, "go test", goTest), GrantRule},
		{"twice", command(f.cwd, "go test; go test", goTest, goTest), GrantRule},
		{"E29 chained", command(f.cwd, "go test && rm -rf x", goTest, []string{"rm", "-rf", "x"}), GrantDenied},
		{"one word more", command(f.cwd, "go test ./...", []string{"go", "test", "./..."}), GrantDenied},
		{"one word less", command(f.cwd, "go", []string{"go"}), GrantDenied},
		{"E32 not plain", redirected, GrantDenied},
		{"dangerous", dangerous, GrantDenied},
		{"elsewhere", command(f.outside, "go test", goTest), GrantDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if grant, _ := f.allow(t, &answers{id: optionDeny}, tc.call, ModeDontAsk); grant != tc.want {
				t.Errorf("grant %q, want %q", grant, tc.want)
			}
		})
	}
}

// Always allowing an interpreter allows that one command, never the
// interpreter (mattmezza/humux#67).
func TestE31_RuleForAnInterpreterIsTheExactCommand(t *testing.T) {
	f := newPolicyFixture(t)
	one := []string{"python3", "-c", "print(1)"}
	if _, err := f.allow(t, &answers{id: optionAllowAlways}, command(f.cwd, "python3 -c 'print(1)'", one), ModeDefault); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Rule{{Dir: f.cwd, Words: one, Allow: true}}, f.rules.rules); diff != "" {
		t.Errorf("rules (-want +got)\n%s", diff)
	}
	for _, other := range [][]string{{"python3"}, {"python3", "-c", "print(2)"}, {"python3", "-c"}} {
		if grant, _ := f.allow(t, &answers{id: optionDeny}, command(f.cwd, strings.Join(other, " "), other), ModeDefault); grant != GrantDenied {
			t.Errorf("%v: grant %q", other, grant)
		}
	}
}

// A rule is not offered for a command that names a sensitive file, however it
// names it; what only looks like one does not count.
func TestCommandsThatNameSensitiveFilesOfferNoRule(t *testing.T) {
	f := newPolicyFixture(t)
	if err := os.WriteFile(filepath.Join(f.cwd, "GIT~1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for word, sensitive := range map[string]bool{
		".env": true, "./sub/.env": true, "of=.git/config": true, "--file=~/.netrc": true, "~/.bashrc": true,
		filepath.Join(f.home, ".ssh", "id_rsa"): true, "GIT~1": true,
		"HEAD~1": false, "main.go": false, "fix .env handling": false, "https://example.com/a": false, "s/a/b/": false,
		strings.Repeat("x", 1000): false,
	} {
		person := &answers{id: optionDeny}
		_, _ = f.allow(t, person, command(f.cwd, "tool "+word, []string{"tool", word}), ModeDefault) // denied
		want := []string{optionAllowOnce, optionAllowAlways, optionDeny, optionDenyAlways}
		if sensitive {
			want = []string{optionAllowOnce, optionDeny}
		}
		if diff := cmp.Diff(want, offered(person.asked[0])); diff != "" {
			t.Errorf("%.40s: options (-want +got)\n%s", word, diff)
		}
	}
}

func TestDenyAlwaysIsARule(t *testing.T) {
	f := newPolicyFixture(t)
	push := []string{"git", "push"}
	if _, err := f.allow(t, &answers{id: optionDenyAlways}, command(f.cwd, "git push", push), ModeDefault); !errors.Is(err, ErrDenied) {
		t.Fatal(err)
	}
	person := &answers{id: optionAllowOnce}
	line := command(f.cwd, "true; git push", []string{"true"}, push)
	if _, err := f.allow(t, person, line, ModeDefault); !errors.Is(err, ErrRuleDenies) || len(person.asked) != 0 {
		t.Errorf("asked %d times, error %v", len(person.asked), err)
	}
}

func TestHardlineNeverRuns(t *testing.T) {
	f := newPolicyFixture(t)
	person := &answers{id: optionAllowOnce}
	call := command(f.cwd, "rm -rf /", []string{"rm", "-rf", "/"})
	call.Access.Command.Verdict, call.Access.Command.Reason = VerdictNever, "deletes the root folder"
	_, err := f.allow(t, person, call, ModeDontAsk)
	if !errors.Is(err, ErrHardline) || !strings.Contains(err.Error(), "deletes the root folder") || len(person.asked) != 0 {
		t.Errorf("asked %d times, error %v", len(person.asked), err)
	}
}

// A denied edit that comes back as a shell command asks again and says so, also
// where a rule would allow the command (NousResearch/hermes-agent#31682).
func TestDeniedEditIsRememberedByCommands(t *testing.T) {
	f := newPolicyFixture(t)
	words := []string{"tee", "a.txt"}
	f.rules.rules = []Rule{{Dir: f.cwd, Words: words, Allow: true}}
	file := filepath.Join(f.cwd, "a.txt")
	if _, err := f.allow(t, &answers{id: optionDeny}, edits(file), ModeDefault); !errors.Is(err, ErrDenied) {
		t.Fatal(err)
	}
	person := &answers{id: optionAllowOnce}
	if _, err := f.allow(t, person, command(f.cwd, "tee a.txt", words), ModeDefault); err != nil {
		t.Fatal(err)
	}
	if len(person.asked) != 1 || !strings.Contains(person.asked[0].Reason, "was not allowed") {
		t.Fatalf("asked %+v", person.asked)
	}
	if grant, err := f.allow(t, person, edits(file), ModeAcceptEdits); grant != GrantPerson || err != nil || len(person.asked) != 2 {
		t.Errorf("the denied edit in a mode that allows edits: %q, %v, asked %d times", grant, err, len(person.asked))
	}
	if grant, _ := f.allow(t, person, command(f.cwd, "tee a.txt", words), ModeDefault); grant != GrantRule {
		t.Errorf("after the edit was allowed: grant %q", grant)
	}
}

func TestUnknownOptionIsADenialThatNamesIt(t *testing.T) {
	f := newPolicyFixture(t)
	for _, id := range []string{"allow", "", optionDenyAlways, "proceed_once"} {
		_, err := f.allow(t, &answers{id: id}, edits(filepath.Join(f.cwd, "a")), ModeDefault)
		if !errors.Is(err, ErrUnknownOption) || !strings.Contains(err.Error(), `"`+id+`"`) {
			t.Errorf("%q: error %v", id, err)
		}
	}
}

func TestNobodyToAskDenies(t *testing.T) {
	f := newPolicyFixture(t)
	if _, err := f.approvals.Allow(t.Context(), edits(filepath.Join(f.cwd, "a")), f.ws, ModeDefault); !errors.Is(err, ErrNoApprover) {
		t.Error(err)
	}
	if _, err := f.allow(t, &answers{err: ErrDismissed}, edits(filepath.Join(f.cwd, "a")), ModeDefault); !errors.Is(err, ErrDismissed) {
		t.Error(err)
	}
}

// A client that never answers costs one timeout a turn
// (NousResearch/hermes-agent#108488), and the model is told a timeout from a
// denial.
func TestSilentClientCostsOneTimeoutATurn(t *testing.T) {
	f := newPolicyFixture(t)
	synctest.Test(t, func(t *testing.T) {
		client := &silent{}
		turn := WithApprover(t.Context(), client)
		start := time.Now()
		for range 3 {
			_, err := f.approvals.Allow(turn, edits(filepath.Join(f.cwd, "a")), f.ws, ModeDefault)
			if !errors.Is(err, ErrApprovalTimeout) || errors.Is(err, ErrDenied) {
				t.Errorf("error %v", err)
			}
		}
		if waited := time.Since(start); waited != defaultApprovalTimeout || client.asked != 1 {
			t.Errorf("waited %s, asked %d times", waited, client.asked)
		}
		if _, err := f.approvals.Allow(WithApprover(t.Context(), client), edits(filepath.Join(f.cwd, "a")), f.ws, ModeDefault); err == nil || client.asked != 2 {
			t.Errorf("the next turn asked %d times, error %v", client.asked, err)
		}
	})
}

func TestCancelledTurnIsNotADenial(t *testing.T) {
	f := newPolicyFixture(t)
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	_, err := f.approvals.Allow(WithApprover(ctx, &silent{}), edits(filepath.Join(f.cwd, "a")), f.ws, ModeDefault)
	if !errors.Is(err, stopped) || errors.Is(err, ErrApprovalTimeout) {
		t.Error(err)
	}
}

func TestExternalToolsAskUnlessARuleAllows(t *testing.T) {
	f := newPolicyFixture(t)
	call := CallInfo{ID: "c", Tool: "mcp_git_log", Access: Access{External: "mcp_git_log"}}
	person := &answers{id: optionAllowAlways}
	for _, want := range []Grant{GrantPerson, GrantRule, GrantRule} {
		if grant, err := f.allow(t, person, call, ModeDefault); grant != want || err != nil {
			t.Errorf("grant %q, want %q; error %v", grant, want, err)
		}
	}
}

func TestNamesFile(t *testing.T) {
	for _, tc := range []struct {
		line, name string
		want       bool
	}{
		{"tee a.txt", "a.txt", true},
		{"cat b > ./dir/a.txt", "a.txt", true},
		{`python3 -c "open('a.txt')"`, "a.txt", true},
		{"tee aa.txt", "a.txt", false},
		{"tee a.txt.bak", "a.txt", false},
		{"tee aa.txt a.txt", "a.txt", true},
		{"make all", "a", false},
		{"touch a", "a", true},
		{"touch é", "é", true},
	} {
		if got := namesFile(tc.line, tc.name); got != tc.want {
			t.Errorf("%q in %q: %v", tc.name, tc.line, got)
		}
	}
}
