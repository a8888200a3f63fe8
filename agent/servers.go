package agent

import (
	"context"
	"slices"
)

// ToolServer is an MCP server that a client wants in its session: a program when
// Command is set, otherwise an HTTP endpoint.
type ToolServer struct {
	Name    string
	Command string
	Args    []string
	Env     []string // KEY=value, added to the environment
	URL     string
	SSE     bool              // the endpoint speaks the older HTTP+SSE transport
	Headers map[string]string // sent with every HTTP request
}

// ServerTools are the tools of a session's servers.
type ServerTools interface {
	// Tools waits a moment for servers that still start and returns the tools
	// of those that answered. Each error says once why a server has none.
	Tools(ctx context.Context) (tools []Tool, problems []error)
	// Close ends the servers and waits for them.
	Close()
}

// connectServers replaces the session's servers by those its client named now.
func (s *Session) connectServers(opts SessionOptions) {
	s.mu.Lock()
	old := s.servers
	s.servers = nil
	if len(opts.Servers) > 0 && s.agent.cfg.ConnectServers != nil {
		s.servers = s.agent.cfg.ConnectServers(s.workspaceLocked(), opts.Servers)
	}
	s.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

// Tools returns what the session's model may call. Like ServerTools.Tools it waits
// a moment for servers that still start and says once why a server has no tools.
func (s *Session) Tools(ctx context.Context) (specs []ToolSpec, problems []error) {
	tools, problems := s.toolset(ctx)
	return tools.specs, problems
}

func (s *Session) toolset(ctx context.Context) (tools toolset, problems []error) {
	s.mu.Lock()
	servers := s.servers
	s.mu.Unlock()
	var extra []Tool
	if servers != nil {
		extra, problems = servers.Tools(ctx)
	}
	return newToolset(s.agent.cfg.Tools, extra), problems
}

func (s *Session) workspaceLocked() *Workspace {
	return &Workspace{SessionID: s.id, Cwd: s.rec.Cwd, Dirs: slices.Clone(s.rec.Dirs), Translate: s.agent.cfg.Translate, Entries: s.entries}
}

// toolset is what a turn's model may call.
type toolset struct {
	byName map[string]Tool
	specs  []ToolSpec
}

func newToolset(groups ...[]Tool) toolset {
	set := toolset{byName: map[string]Tool{}}
	for _, t := range slices.Concat(groups...) {
		spec := t.Spec()
		if _, taken := set.byName[spec.Name]; taken {
			continue
		}
		set.byName[spec.Name] = t
		set.specs = append(set.specs, spec)
	}
	return set
}

func (t toolset) names() []string {
	names := make([]string, len(t.specs))
	for i, s := range t.specs {
		names[i] = s.Name
	}
	return names
}
