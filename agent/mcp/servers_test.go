package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent"
)

// The test binary is also the server that the tests start.
const serverEnv = "HERMES_ACP_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverEnv); mode != "" {
		serve(mode)
		return
	}
	goleak.VerifyTestMain(m,
		// Idle connections of http.DefaultTransport outlive the test servers.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

type greeting struct {
	Name string `json:"name"`
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "greets"}, func(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
		if in.Name == "" {
			return nil, nil, fmt.Errorf("nobody to greet")
		}
		cwd, err := os.Getwd()
		text := fmt.Sprintf("hello %s from %s, key %q", in.Name, cwd, os.Getenv("OPENAI_API_KEY"))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
	})
	return server
}

func serve(mode string) {
	switch mode {
	case "noisy":
		fmt.Println("UNC paths are not supported.  Defaulting to Windows directory.")
		fmt.Println("Welcome to this shell")
		fmt.Println()
	case "exits":
		fmt.Fprintln(os.Stderr, "no licence")
		return
	case "stubborn":
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(os.Getenv("CHILD_PID_FILE"), []byte(fmt.Sprint(child.Process.Pid)), 0o600); err != nil {
			panic(err)
		}
	}
	if err := newServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if mode == "stubborn" {
		select {} // ends by force only
	}
}

func testServer(t *testing.T, mode string, env ...string) agent.ToolServer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agent.ToolServer{Name: "my-server", Command: exe, Env: append(env, serverEnv+"="+mode)}
}

func connect(t *testing.T, cwd string, servers ...agent.ToolServer) ([]agent.Tool, []error) {
	t.Helper()
	c := NewConnector(Options{
		Version:  "test",
		Env:      func(context.Context) []string { return append(os.Environ(), "OPENAI_API_KEY=sk-secret") },
		StripEnv: []string{"OPENAI_API_KEY"},
	})
	set := c.Connect(&agent.Workspace{Cwd: cwd}, servers)
	t.Cleanup(set.Close)
	return set.Tools(t.Context())
}

func call(t *testing.T, tool agent.Tool, args string) (agent.Result, error) {
	t.Helper()
	plan, err := tool.Plan(t.Context(), nil, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Access.External != "my-server/greet" {
		t.Errorf("it asks for leave as %q", plan.Access.External)
	}
	return plan.Run(t.Context(), func(agent.Progress) {})
}

func TestProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools, problems := connect(t, dir, testServer(t, "plain"))
	if len(problems) > 0 || len(tools) != 1 {
		t.Fatalf("tools %v, problems %v", tools, problems)
	}
	if name := tools[0].Spec().Name; name != "mcp_my_server_greet" {
		t.Errorf("the tool is named %q", name)
	}
	result, err := call(t, tools[0], `{"name":"Ada"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("hello Ada from %s, key %q", dir, "")
	if diff := cmp.Diff(want, result.Text); diff != "" {
		t.Error(diff)
	}
	if result, err := call(t, tools[0], `{"name":""}`); err != nil || !result.Failed || !strings.Contains(result.Text, "nobody") {
		t.Errorf("a call that fails: %+v, %v", result, err)
	}
}

// TestW46_GreetingBeforeTheProtocol is a server started through cmd.exe, which
// writes a warning to the stdout that carries the protocol.
func TestW46_GreetingBeforeTheProtocol(t *testing.T) {
	tools, problems := connect(t, t.TempDir(), testServer(t, "noisy"))
	if len(problems) > 0 || len(tools) != 1 {
		t.Fatalf("tools %v, problems %v", tools, problems)
	}
}

func TestW46_WindowsProgramsStartWhereWindowsCanName(t *testing.T) {
	for _, tt := range []struct{ path, cwd, want string }{
		{"/mnt/c/Windows/System32/cmd.exe", "/root", "/mnt/c/Windows/System32"},
		{"/mnt/c/Windows/System32/cmd.exe", "/mnt/d/work", "/mnt/d/work"},
		{"/usr/bin/npx", "/root", "/root"},
	} {
		if got := programDir(tt.path, tt.cwd); got != tt.want {
			t.Errorf("%s in %s starts in %s, want %s", tt.path, tt.cwd, got, tt.want)
		}
	}
}

// TestW49_OneServerFailing shows that a server which cannot be had costs its own
// tools only, and is told once.
func TestW49_OneServerFailing(t *testing.T) {
	missing := agent.ToolServer{Name: "missing", Command: "nosuch-program-xyz"}
	exits := testServer(t, "exits")
	exits.Name = "exits"
	c := NewConnector(Options{Version: "test"})
	set := c.Connect(&agent.Workspace{Cwd: t.TempDir()}, []agent.ToolServer{missing, exits, testServer(t, "plain")})
	defer set.Close()
	tools, problems := set.Tools(t.Context())
	if len(tools) != 1 || len(problems) != 2 {
		t.Fatalf("tools %v, problems %v", tools, problems)
	}
	if !strings.Contains(problems[0].Error(), "nosuch-program-xyz") {
		t.Errorf("the problem does not name the program: %v", problems[0])
	}
	if _, again := set.Tools(t.Context()); len(again) > 0 {
		t.Errorf("told twice: %v", again)
	}
}

func TestCloseEndsTheWholeGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	c := NewConnector(Options{Version: "test"})
	set := c.Connect(&agent.Workspace{Cwd: t.TempDir()}, []agent.ToolServer{testServer(t, "stubborn", "CHILD_PID_FILE="+pidFile)})
	if tools, problems := set.Tools(t.Context()); len(tools) != 1 {
		t.Fatalf("problems %v", problems)
	}
	set.Close()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); alive(string(pid)); {
		if time.Now().After(deadline) {
			t.Fatalf("the grandchild %s lives on", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// alive reads the state, since a dead process stays as a zombie where nobody
// reaps it.
func alive(pid string) bool {
	status, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(status), ") Z ")
}

// Both ways over HTTP send the headers that the client gave, and stay connected
// after the start.
func TestHTTPAndSSE(t *testing.T) {
	for name, handler := range map[string]func(func(*http.Request) *mcp.Server) http.Handler{
		"http": func(get func(*http.Request) *mcp.Server) http.Handler { return mcp.NewStreamableHTTPHandler(get, nil) },
		"sse":  func(get func(*http.Request) *mcp.Server) http.Handler { return mcp.NewSSEHandler(get, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			tokens := make(chan string, 100)
			srv := httptest.NewServer(handler(func(r *http.Request) *mcp.Server {
				tokens <- r.Header.Get("Authorization")
				return newServer()
			}))
			defer srv.Close()
			c := NewConnector(Options{Version: "test"})
			set := c.Connect(&agent.Workspace{Cwd: t.TempDir()}, []agent.ToolServer{{
				Name: "my-server", URL: srv.URL, SSE: name == "sse", Headers: map[string]string{"Authorization": "Bearer x"},
			}})
			defer set.Close()
			tools, problems := set.Tools(t.Context())
			if len(problems) > 0 || len(tools) != 1 {
				t.Fatalf("tools %v, problems %v", tools, problems)
			}
			if result, err := call(t, tools[0], `{"name":"Ada"}`); err != nil || !strings.HasPrefix(result.Text, "hello Ada") {
				t.Errorf("result %+v, %v", result, err)
			}
			if token := <-tokens; token != "Bearer x" {
				t.Errorf("the server saw the header %q", token)
			}
		})
	}
}

func TestToolNames(t *testing.T) {
	for _, tt := range []struct{ server, tool, want string }{
		{"test-server", "tool1", "mcp_test_server_tool1"},
		{"größe", "a b", "mcp_gr__e_a_b"},
		{"s", strings.Repeat("x", 100), "mcp_s_" + strings.Repeat("x", 58)},
	} {
		if got := toolName(tt.server, tt.tool); got != tt.want {
			t.Errorf("toolName(%q, %q) = %q, want %q", tt.server, tt.tool, got, tt.want)
		}
	}
}
