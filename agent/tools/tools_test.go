package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestMain(m *testing.M) {
	if target := os.Getenv(writerEnv); target != "" {
		writeForever(target)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// workbench is a toolset with a workspace on disk.
type workbench struct {
	*Toolset
	ws *agent.Workspace
}

func newWorkbench(tb testing.TB) *workbench {
	tb.Helper()
	cwd, err := agent.ResolveLinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	b := &workbench{New(Options{}), &agent.Workspace{SessionID: "session", Cwd: cwd}}
	tb.Cleanup(b.Close)
	return b
}

// plan plans a call; args is marshalled as JSON.
func (b *workbench) plan(tb testing.TB, name string, args any) (agent.Plan, error) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	for _, tool := range b.Tools() {
		if tool.Spec().Name == name {
			return tool.Plan(tb.Context(), b.ws, raw)
		}
	}
	tb.Fatalf("no tool %s", name)
	return agent.Plan{}, nil
}

// call plans a call and runs it as if it had got leave.
func (b *workbench) call(tb testing.TB, name string, args any) (agent.Result, error) {
	tb.Helper()
	plan, err := b.plan(tb, name, args)
	if err != nil {
		return agent.Result{}, err
	}
	return plan.Run(tb.Context(), nil)
}

func (b *workbench) path(name string) string { return filepath.Join(b.ws.Cwd, name) }

func (b *workbench) write(tb testing.TB, name, content string) string {
	tb.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

func (b *workbench) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// holds fails the test when the workspace holds anything but what is listed.
func (b *workbench) holds(tb testing.TB, names ...string) {
	tb.Helper()
	entries, err := os.ReadDir(b.ws.Cwd)
	if err != nil {
		tb.Fatal(err)
	}
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	for _, e := range entries {
		if !want[e.Name()] {
			tb.Errorf("unexpected %s in the workspace", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		tb.Errorf("%s is missing in the workspace", name)
	}
}

type args map[string]any

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

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
		} else if err != nil && strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: the model does not know Go types: %v", tc.raw, err)
		}
	}
}

// A path that the model wrote in Windows form is translated before anything
// looks at it, whichever argument it is.
func TestWindowsPathsAreTranslatedInEveryArgument(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "a.txt", "a\n")
	b.write(t, "sub/b.txt", "b\n")
	b.ws.Translate = func(p string) (string, error) {
		if rest, ok := strings.CutPrefix(p, `C:\ws\`); ok {
			return filepath.Join(b.ws.Cwd, strings.ReplaceAll(rest, `\`, "/")), nil
		}
		return p, nil
	}
	for _, tc := range []struct {
		tool string
		args args
		want string
	}{
		{"read_file", args{"path": `C:\ws\sub\b.txt`}, "sub/b.txt"},
		{"list_dir", args{"path": `C:\ws\sub`}, "sub"},
		{"search_files", args{"pattern": "b", "path": `C:\ws\sub`}, "sub"},
		{"write_file", args{"path": `C:\ws\sub\n.txt`, "content": "x"}, "sub/n.txt"},
		{"patch", args{"path": `C:\ws\a.txt`, "old_string": "a", "new_string": "b"}, "a.txt"},
		{"patch", v4a(`*** Move File: a.txt -> C:\ws\sub\m.txt`), "sub/m.txt"},
		{"terminal", args{"command": "pwd", "workdir": `C:\ws\sub`}, "sub"},
	} {
		plan, err := b.plan(t, tc.tool, tc.args)
		if err != nil {
			t.Errorf("%s: %v", tc.tool, err)
			continue
		}
		var got string
		switch access := plan.Access; {
		case access.Command != nil:
			got = access.Command.Dir
		case len(access.Edits) > 0:
			got = access.Edits[0].Target
		default:
			got = access.Reads[0]
		}
		if want := b.path(tc.want); got != want {
			t.Errorf("%s: %s, want %s", tc.tool, got, want)
		}
	}
}
