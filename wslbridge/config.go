package wslbridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Config is bridge.yaml.
type Config struct {
	Distro string                 `yaml:"distro"` // where everything runs unless something names another
	User   string                 `yaml:"user"`   // Linux user; "" means the distro's default
	Agents map[string]AgentConfig `yaml:"agents"` // third-party agents, for --agent NAME
}

// AgentConfig is an ACP agent that is installed inside WSL.
type AgentConfig struct {
	Distro  string            `yaml:"distro"`
	Command string            `yaml:"command"` // looked up on the PATH of a login shell
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"`
}

// ErrUnknownAgent is the cause when --agent names none of bridge.yaml.
var ErrUnknownAgent = errors.New("no such agent in bridge.yaml")

// ReadConfig reads the file at path. A file that does not exist is an empty one. Errors name the
// line.
func ReadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read bridge.yaml: %w", err)
	}
	config, err := parseConfig(text)
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", path, err)
	}
	return config, nil
}

func parseConfig(text []byte) (Config, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var c Config
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		agent := c.Agents[name]
		if agent.Command == "" {
			return Config{}, fmt.Errorf("line %d: agents.%s has no command", lineOf(text, "agents", name), name)
		}
		for _, key := range slices.Sorted(maps.Keys(agent.Env)) {
			if key == "" || strings.ContainsAny(key, "=:/ \t") {
				return Config{}, fmt.Errorf("line %d: agents.%s.env: %q is no name of a variable", lineOf(text, "agents", name, "env", key), name, key)
			}
		}
	}
	return c, nil
}

// lineOf returns the line of a YAML document that the last of the nested keys stands on, or as far as
// they lead.
func lineOf(text []byte, keys ...string) int {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return 1
	}
	node, line := document.Content[0], document.Line
	for _, key := range keys {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				line, node = node.Content[i].Line, node.Content[i+1]
				break
			}
		}
	}
	return line
}

// Agent returns the agent called name.
func (c Config) Agent(name string) (AgentConfig, error) {
	agent, ok := c.Agents[name]
	if !ok {
		known := slices.Sorted(maps.Keys(c.Agents))
		return AgentConfig{}, fmt.Errorf("%w: %q; it has: %s", ErrUnknownAgent, name, strings.Join(known, ", "))
	}
	return agent, nil
}
