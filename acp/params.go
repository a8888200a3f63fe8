package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// decode reads a request's parameters.
func decode[P any](params json.RawMessage) (P, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return p, invalid("params: %v", fieldError(err))
	}
	return p, nil
}

// fieldError says in the protocol's words which field is of the wrong type.
func fieldError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("%s must not be a JSON %s", wrong.Field, wrong.Value)
	}
	return err
}

// sessionParams are the parameters that every method about one session has.
type sessionParams struct {
	SessionID string `json:"sessionId"`
}

// session returns the handle of the session that the parameters name.
func (s *server) session(p sessionParams) (*agent.Session, error) {
	if p.SessionID == "" {
		return nil, errNoSessionID()
	}
	return s.agent.Session(p.SessionID), nil
}

func errNoSessionID() error { return invalid("sessionId is required") }

// folderParams are where a session works, as new, load, resume and fork say it.
type folderParams struct {
	Cwd                   string            `json:"cwd"`
	AdditionalDirectories []string          `json:"additionalDirectories"`
	McpServers            []json.RawMessage `json:"mcpServers"`
}

// options checks the folders.
func (p folderParams) options() (agent.SessionOptions, error) {
	if p.Cwd == "" {
		return agent.SessionOptions{}, invalid("cwd is required")
	}
	if err := checkFolder("cwd", p.Cwd); err != nil {
		return agent.SessionOptions{}, err
	}
	dirs := make([]string, len(p.AdditionalDirectories))
	for i, dir := range p.AdditionalDirectories {
		if err := checkFolder("additionalDirectories", dir); err != nil {
			return agent.SessionOptions{}, err
		}
		dirs[i] = filepath.Clean(dir)
	}
	var servers []agent.ToolServer
	for i, raw := range p.McpServers {
		server, err := toolServer(raw)
		if err != nil {
			return agent.SessionOptions{}, invalid("mcpServers %d: %v", i+1, err)
		}
		servers = append(servers, server)
	}
	return agent.SessionOptions{Cwd: filepath.Clean(p.Cwd), Dirs: dirs, Servers: servers}, nil
}

func checkFolder(field, path string) error {
	if !filepath.IsAbs(path) {
		return invalid("%s %q is not an absolute path", field, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return invalid("%s %q does not exist", field, path)
	case err != nil:
		return invalid("%s %q cannot be opened: %v", field, path, err)
	case !info.IsDir():
		return invalid("%s %q is not a folder", field, path)
	}
	return nil
}

// typeOf reads the discriminator of a raw object. A union is never decoded
// without it: the SDK takes an unknown variant for one that it knows.
func typeOf(raw json.RawMessage) (kind string, present bool, err error) {
	var object struct {
		Type *string `json:"type"`
	}
	if raw[0] != '{' {
		return "", false, errors.New("must be an object")
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return "", false, fieldError(err)
	}
	if object.Type == nil {
		return "", false, nil
	}
	return *object.Type, true, nil
}

// toolServer decodes an MCP server by its type, which stdio has not in version 1.
func toolServer(raw json.RawMessage) (agent.ToolServer, error) {
	kind, present, err := typeOf(raw)
	if err != nil {
		return agent.ToolServer{}, err
	}
	if !present {
		kind = "stdio"
	}
	switch kind {
	case "stdio":
		return stdioServer(raw)
	case "http", "sse":
		return httpServer(raw)
	default:
		return agent.ToolServer{}, fmt.Errorf("type %q is not supported (stdio, http and sse are)", kind)
	}
}

func stdioServer(raw json.RawMessage) (agent.ToolServer, error) {
	var p acpsdk.McpServerStdio
	if err := json.Unmarshal(raw, &p); err != nil {
		return agent.ToolServer{}, fieldError(err)
	}
	if p.Name == "" || p.Command == "" {
		return agent.ToolServer{}, errors.New("a stdio server needs name and command")
	}
	server := agent.ToolServer{Name: p.Name, Command: p.Command, Args: p.Args}
	for _, env := range p.Env {
		server.Env = append(server.Env, env.Name+"="+env.Value)
	}
	return server, nil
}

func httpServer(raw json.RawMessage) (agent.ToolServer, error) {
	var p acpsdk.McpServerHttpInline // an sse server has the same fields
	if err := json.Unmarshal(raw, &p); err != nil {
		return agent.ToolServer{}, fieldError(err)
	}
	if p.Name == "" || p.Url == "" {
		return agent.ToolServer{}, fmt.Errorf("a server of type %s needs name and url", p.Type)
	}
	server := agent.ToolServer{Name: p.Name, URL: p.Url, SSE: p.Type == "sse", Headers: map[string]string{}}
	for _, h := range p.Headers {
		server.Headers[h.Name] = h.Value
	}
	return server, nil
}
