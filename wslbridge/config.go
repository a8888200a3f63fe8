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
	decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	decoder.KnownFields(true)
	var c Config
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, err
	}
	for name, agent := range c.Agents {
		if agent.Command == "" {
			return Config{}, fmt.Errorf("agents.%s has no command", name)
		}
		for key := range agent.Env {
			if key == "" || strings.ContainsAny(key, "=:/ \t") {
				return Config{}, fmt.Errorf("agents.%s.env: %q is no name of a variable", name, key)
			}
		}
	}
	return c, nil
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
