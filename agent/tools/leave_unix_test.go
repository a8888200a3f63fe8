//go:build unix

package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// person answers questions and keeps them. meanwhile happens while a question
// is open.
type person struct {
	answer    string
	meanwhile func()
	asked     []agent.PermissionRequest
}

func (p *person) Ask(_ context.Context, req agent.PermissionRequest) (string, error) {
	p.asked = append(p.asked, req)
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return p.answer, nil
}

// ruleBook keeps rules in memory.
type ruleBook []agent.Rule

func (r *ruleBook) Rules(context.Context, string) ([]agent.Rule, error) { return *r, nil }

func (r *ruleBook) AddRule(_ context.Context, rule agent.Rule) error {
	*r = append(*r, rule)
	return nil
}

// desk is a workbench whose calls need leave.
type desk struct {
	*workbench
	approvals *agent.Approvals
	home      string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := agent.ResolveLinks(t.TempDir())
	must(t, err)
	b := newWorkbench(t)
	b.Toolset = New(Options{Home: home})
	t.Cleanup(b.Close)
	return &desk{b, agent.NewApprovals(agent.Policy{Home: home, Rules: &ruleBook{}}), home}
}

// do plans a call, gets leave as a turn does, and runs it.
func (d *desk) do(t *testing.T, p *person, tool string, a args) (agent.Grant, error) {
	t.Helper()
	plan, err := d.plan(t, tool, a)
	if err != nil {
		t.Fatal(err)
	}
	call := agent.CallInfo{ID: "call", Tool: tool, Title: plan.Title, Access: plan.Access, Known: true}
	grant, err := d.approvals.Allow(agent.WithApprover(t.Context(), p), call, d.ws, agent.ModeDefault)
	if err == nil {
		_, err = plan.Run(t.Context(), nil)
	}
	return grant, err
}

func optionIDs(req agent.PermissionRequest) []string {
	var ids []string
	for _, o := range req.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

// Writing a shell's start file by a command asks, as editing it does
// (NousResearch/hermes-agent#19282).
func TestE05_CommandsThatWriteStartFilesAsk(t *testing.T) {
	d := newDesk(t)
	for _, line := range []string{"echo x >> ~/.bashrc", "echo x | tee -a ~/.netrc", "cp a ~/.profile", "sed -i s/a/b/ .envrc", "dd if=a of=.git/hooks/pre-commit"} {
		p := &person{answer: "deny"}
		_, err := d.do(t, p, "terminal", args{"command": line})
		if !errors.Is(err, agent.ErrDenied) || len(p.asked) != 1 {
			t.Fatalf("%s: error %v, asked %d times", line, err, len(p.asked))
		}
		if diff := cmp.Diff([]string{"allow_once", "deny"}, optionIDs(p.asked[0])); diff != "" || !strings.Contains(p.asked[0].Reason, "sensitive") {
			t.Errorf("%s: reason %q, options (-want +got)\n%s", line, p.asked[0].Reason, diff)
		}
	}
}

func TestSafeCommandsAreHeldToTheRulesForReading(t *testing.T) {
	d := newDesk(t)
	d.write(t, "a.txt", "a\n")
	d.write(t, ".env", "secret\n")
	outside := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(outside, []byte("x\n"), 0o644))
	must(t, os.Symlink(outside, d.path("link")))
	must(t, os.Mkdir(filepath.Join(filepath.Dir(outside), "sub"), 0o755))
	must(t, os.Symlink(filepath.Join(filepath.Dir(outside), "sub"), d.path("sublink")))
	for line, asks := range map[string]bool{
		"cat a.txt":                        false,
		"ls; cat a.txt | wc":               false,
		"cat .env":                         true,
		"cat ./sub/../.env":                true,
		"grep -n secret .env":              true,
		"head -n1 < .env":                  true,
		"cat " + outside:                   true,
		"cat link":                         true,
		"cat ~/x":                          true,
		"ls ..":                            true,
		"cat sublink/../x":                 true, // the system goes up from the link's target
		"ls sublink/..":                    true,
		"cd sublink/.. && ls":              false, // cd goes up in the text
		"cat ./a.txt":                      false,
		"cd .. && ls":                      true,
		"cd sublink && cat ../x":           true,
		"! cd sublink && ls":               true,
		"cat < sublink/../x":               true,
		"cd sublink && cat " + "../x | wc": true,
	} {
		p := &person{answer: "deny"}
		grant, err := d.do(t, p, "terminal", args{"command": line})
		if asks != (len(p.asked) == 1) || asks != errors.Is(err, agent.ErrDenied) || !asks && grant != agent.GrantSafeList {
			t.Errorf("%s: grant %q, error %v, asked %d times", line, grant, err, len(p.asked))
		}
	}
}

// A denied edit that comes back as a command asks again and says so, whatever
// rule there is (NousResearch/hermes-agent#31682).
func TestDeniedEditComesBackAsACommand(t *testing.T) {
	d := newDesk(t)
	d.write(t, "a.txt", "a\n")
	always := &person{answer: "allow_always"}
	if _, err := d.do(t, always, "terminal", args{"command": "touch a.txt"}); err != nil {
		t.Fatal(err)
	}
	no := &person{answer: "deny"}
	if _, err := d.do(t, no, "write_file", args{"path": "a.txt", "content": "b\n"}); !errors.Is(err, agent.ErrDenied) {
		t.Fatal(err)
	}
	for _, line := range []string{"touch a.txt", "echo b > a.txt", "python3 -c \"open('a.txt','w')\""} {
		p := &person{answer: "deny"}
		if _, err := d.do(t, p, "terminal", args{"command": line}); !errors.Is(err, agent.ErrDenied) ||
			len(p.asked) != 1 || !strings.Contains(p.asked[0].Reason, "was not allowed before") {
			t.Errorf("%s: error %v, asked %+v", line, err, p.asked)
		}
	}
	if d.read(t, "a.txt") != "a\n" {
		t.Error("the file changed")
	}
}

// What changes while the question is open is neither overwritten nor followed.
func TestE27_E28_ChangesWhileTheQuestionIsOpen(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "x")
	for name, meanwhile := range map[string]func(d *desk){
		"E28 the person edits the file": func(d *desk) { d.write(t, "f", "mine\n") },
		"E27 a link takes its place": func(d *desk) {
			must(t, os.Remove(d.path("f")))
			must(t, os.Symlink(outside, d.path("f")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(outside, []byte("a\n"), 0o644))
			d := newDesk(t)
			d.write(t, "f", "a\n")
			p := &person{answer: "allow_once", meanwhile: func() { meanwhile(d) }}
			grant, err := d.do(t, p, "patch", args{"path": "f", "old_string": "a", "new_string": "b"})
			if grant != agent.GrantPerson || err == nil {
				t.Errorf("grant %q, error %v", grant, err)
			}
			if got := d.read(t, "f"); strings.Contains(got, "b") {
				t.Errorf("it was written: %q", got)
			}
			if data, err := os.ReadFile(outside); err != nil || string(data) != "a\n" {
				t.Errorf("outside: %q, error %v", data, err)
			}
		})
	}
}

// A dangling link out of the workspace asks as what it is, an edit outside
// (nextlevelbuilder/goclaw#1201).
func TestE24_DanglingLinkAsksAsOutside(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Join(t.TempDir(), "x")
	must(t, os.Symlink(outside, d.path("new.txt")))
	p := &person{answer: "deny"}
	_, err := d.do(t, p, "write_file", args{"path": "new.txt", "content": "x"})
	if !errors.Is(err, agent.ErrDenied) || len(p.asked) != 1 || p.asked[0].Reason != "outside the workspace" {
		t.Errorf("error %v, asked %+v", err, p.asked)
	}
	if _, err := os.Lstat(outside); !os.IsNotExist(err) {
		t.Error("it was created")
	}
}

// BenchmarkReadTurn is what one read of a file costs beside the model: plan,
// leave and run.
func BenchmarkReadTurn(b *testing.B) {
	bench := newWorkbench(b)
	bench.write(b, "main.go", strings.Repeat("package main // a line of a usual length\n", 200))
	approvals := agent.NewApprovals(agent.Policy{})
	for b.Loop() {
		plan, err := bench.plan(b, "read_file", args{"path": "main.go"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := approvals.Allow(b.Context(), agent.CallInfo{Access: plan.Access}, bench.ws, agent.ModeDefault); err != nil {
			b.Fatal(err)
		}
		if _, err := plan.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
