// Package mcp connects a session to the MCP servers that its client names, and
// offers their tools to the model.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	// startTimeout is how long a server may take to start and list its tools.
	startTimeout = 60 * time.Second
	// patience is how long a turn waits for servers that still start; their
	// tools come with a later turn then.
	patience = 10 * time.Second
)

// Options tune Connect.
type Options struct {
	Version string
	// Env is the environment that programs start from, KEY=value; nil is the
	// process's own.
	Env func(ctx context.Context) []string
	// StripEnv names variables that programs do not get, such as provider keys.
	StripEnv []string
	// LookPath finds a program by its bare name; nil is the system's way.
	LookPath func(ctx context.Context, name string) (string, error)
	Log      *slog.Logger
}

// Connector starts MCP servers for sessions.
type Connector struct{ opts Options }

// NewConnector returns a Connector.
func NewConnector(opts Options) *Connector {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Env == nil {
		opts.Env = func(context.Context) []string { return os.Environ() }
	}
	return &Connector{opts}
}

// Connect begins to start the servers, side by side, and returns at once. A
// server that cannot be had costs its own tools only.
func (c *Connector) Connect(ws *agent.Workspace, servers []agent.ToolServer) agent.ServerTools {
	ctx, cancel := context.WithCancel(context.Background())
	set := &serverSet{cancel: cancel}
	for _, spec := range servers {
		s := &server{spec: spec, ready: make(chan struct{})}
		set.servers = append(set.servers, s)
		set.running.Go(func() { s.run(ctx, c, ws.Cwd) })
	}
	return set
}

// serverSet implements agent.ServerTools.
type serverSet struct {
	servers []*server
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// server is one server of one session.
type server struct {
	spec  agent.ToolServer
	ready chan struct{} // closed when tools and err stand
	tools []agent.Tool
	err   error

	told sync.Once
}

func (s *serverSet) Tools(ctx context.Context) (tools []agent.Tool, problems []error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, srv := range s.servers {
		select {
		case <-srv.ready:
			tools = append(tools, srv.tools...)
			if srv.err != nil {
				srv.told.Do(func() { problems = append(problems, srv.err) })
			}
		case <-ctx.Done():
		}
	}
	return tools, problems
}

func (s *serverSet) Close() {
	s.cancel()
	s.running.Wait()
}

// run connects, lists the tools and keeps the connection until ctx ends.
func (s *server) run(ctx context.Context, c *Connector, cwd string) {
	log := c.opts.Log.With("server", s.spec.Name)
	// An SSE connection ends with the context that it was made with, so the limit
	// is a timer that is stopped once the server is there.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(startTimeout, func() { cancel(fmt.Errorf("it did not start within %v", startTimeout)) })
	session, err := s.connect(ctx, c, cwd, log)
	limit.Stop()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		s.err = fmt.Errorf("MCP server %q has no tools in this session: %w", s.spec.Name, err)
		log.WarnContext(ctx, "mcp server failed", "error", err)
		close(s.ready)
		return
	}
	close(s.ready)
	<-ctx.Done()
	if err := session.Close(); err != nil {
		log.DebugContext(ctx, "mcp server did not end well", "error", err)
	}
}

func (s *server) connect(ctx context.Context, c *Connector, cwd string, log *slog.Logger) (*mcp.ClientSession, error) {
	transport, err := s.transport(ctx, c, cwd, log)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "hermes-acp", Version: c.opts.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, errors.Join(fmt.Errorf("list its tools: %w", err), session.Close())
		}
		tool, err := newTool(session, s.spec.Name, t)
		if err != nil {
			log.WarnContext(ctx, "mcp tool left out", "tool", t.Name, "error", err)
			continue
		}
		s.tools = append(s.tools, tool)
	}
	return session, nil
}

func (s *server) transport(ctx context.Context, c *Connector, cwd string, log *slog.Logger) (mcp.Transport, error) {
	switch {
	case s.spec.Command != "":
		return startProgram(ctx, c.opts, s.spec, cwd, log)
	case s.spec.SSE:
		return &mcp.SSEClientTransport{Endpoint: s.spec.URL, HTTPClient: s.httpClient()}, nil
	default:
		return &mcp.StreamableClientTransport{Endpoint: s.spec.URL, HTTPClient: s.httpClient()}, nil
	}
}

func (s *server) httpClient() *http.Client {
	return &http.Client{Transport: headerTransport(s.spec.Headers)}
}

// headerTransport adds the headers that the client configured.
type headerTransport map[string]string

func (h headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range h {
		req.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// environment joins what programs inherit with what the client set for this
// one.
func environment(inherited, strip, own []string) []string {
	env := slices.DeleteFunc(slices.Clone(inherited), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(strip, name)
	})
	return append(env, own...)
}
