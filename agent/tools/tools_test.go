package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a toolset with a workspace on disk.
type workbench struct {
	*Toolset
	ws *agent.Workspace
}

func newWorkbench(t testing.TB) *workbench {
	t.Helper()
	cwd, err := agent.ResolveLinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &workbench{New(Options{}), &agent.Workspace{SessionID: "session", Cwd: cwd}}
	t.Cleanup(b.Close)
	return b
}

// plan plans a call; args is marshalled as JSON.
func (b *workbench) plan(t testing.TB, name string, args any) (agent.Plan, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range b.Tools() {
		if tool.Spec().Name == name {
			return tool.Plan(t.Context(), b.ws, raw)
		}
	}
	t.Fatalf("no tool %s", name)
	return agent.Plan{}, nil
}

// call plans a call and runs it as if it had got leave.
func (b *workbench) call(t testing.TB, name string, args any) (agent.Result, error) {
	t.Helper()
	return b.callContext(t, t.Context(), name, args)
}

func (b *workbench) callContext(t testing.TB, ctx context.Context, name string, args any) (agent.Result, error) { //nolint:revive // t first, as in every test helper
	t.Helper()
	plan, err := b.plan(t, name, args)
	if err != nil {
		return agent.Result{}, err
	}
	return plan.Run(ctx, nil)
}

func (b *workbench) path(name string) string { return filepath.Join(b.ws.Cwd, name) }

func (b *workbench) write(t testing.TB, name, content string) string {
	t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (b *workbench) read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// unchanged fails the test when a folder holds anything but what is listed.
func (b *workbench) holds(t testing.TB, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(b.ws.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	for _, e := range entries {
		if !want[e.Name()] {
			t.Errorf("unexpected %s in the workspace", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		t.Errorf("%s is missing in the workspace", name)
	}
}

type args map[string]any

func TestSchemasAreObjects(t *testing.T) {
	for _, tool := range newWorkbench(t).Tools() {
		var schema struct {
			Type                 string
			Properties           map[string]json.RawMessage
			Required             []string
			AdditionalProperties *bool
		}
		spec := tool.Spec()
		if err := json.Unmarshal(spec.Schema, &schema); err != nil || schema.Type != "object" || schema.AdditionalProperties == nil {
			t.Errorf("%s: schema is not a closed object: %v", spec.Name, err)
		}
		for _, name := range schema.Required {
			if _, ok := schema.Properties[name]; !ok {
				t.Errorf("%s: requires %s, which it does not describe", spec.Name, name)
			}
		}
		if spec.Description == "" || spec.Kind == "" {
			t.Errorf("%s: no description or no kind", spec.Name)
		}
	}
}

func TestArgumentsAreLenientInShapeAndStrictInContent(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "a.txt", "one\ntwo\n")
	var readFile agent.Tool
	for _, tool := range b.Tools() {
		if tool.Spec().Name == "read_file" {
			readFile = tool
		}
	}
	for _, tc := range []struct {
		raw string
		ok  bool
	}{
		{`{"path":"a.txt"}`, true},
		{`{"path":"a.txt","offset":"2","limit":"1"}`, true},
		{`{"path":"a.txt","offset":2.0}`, true},
		{`"{\"path\":\"a.txt\"}"`, true},
		{`{"path":"a.txt","offset":null}`, true},
		{``, false},
		{`null`, false},
		{`{}`, false},
		{`[]`, false},
		{`{"path":7}`, false},
		{`{"path":"a.txt","offset":"two"}`, false},
		{`{"path":"a.txt","offset":1.5}`, false},
		{`{"path":"a.txt","offset":0}`, false},
		{`{"path":"a.txt","limit":2001}`, false},
		{`{"path":"a.txt","lines":3}`, false},
		{`{"path":"a.txt"} {"path":"b.txt"}`, false},
		{`{"path":"a.t`, false},
	} {
		if _, err := readFile.Plan(t.Context(), b.ws, json.RawMessage(tc.raw)); (err == nil) != tc.ok {
			t.Errorf("%s: error %v", tc.raw, err)
		}
	}
}
