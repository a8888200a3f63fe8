package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
		return nil, invalid("sessionId is required")
	}
	return s.agent.Session(p.SessionID), nil
}

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
	for _, raw := range p.McpServers {
		if err := checkMCPServer(raw); err != nil {
			return agent.SessionOptions{}, err
		}
	}
	return agent.SessionOptions{Cwd: filepath.Clean(p.Cwd), Dirs: dirs}, nil
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

// discriminator reads one string field of a raw object.
func discriminator(raw json.RawMessage, field string) (value string, present bool, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return "", false, errors.New("must be an object")
	}
	text, present := fields[field]
	if !present {
		return "", false, nil
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return "", true, errors.New(field + " must be a string")
	}
	return value, true, nil
}

// checkMCPServer refuses a server of a kind that does not exist. The SDK would
// take it for an HTTP server without an address.
func checkMCPServer(raw json.RawMessage) error {
	kind, present, err := discriminator(raw, "type")
	if err != nil {
		return invalid("mcpServers: %v", err)
	}
	switch kind {
	case "stdio", "http", "sse":
		return nil
	}
	if present {
		return invalid("mcpServers: type %q is not supported (stdio, http and sse are)", kind)
	}
	return nil // stdio has no type in version 1
}
