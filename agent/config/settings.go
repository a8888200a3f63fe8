package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Settings are what config.yaml holds. Keys that are not named here belong to
// other parts of Hermes and are passed over.
type Settings struct {
	Model           Model            `yaml:"model"`
	CustomProviders []CustomProvider `yaml:"custom_providers"`
	Approvals       Approvals        `yaml:"approvals"`
	ACP             ACP              `yaml:"acp"`
	Compression     Compression      `yaml:"compression"`
	Agent           Agent            `yaml:"agent"`
	Terminal        Terminal         `yaml:"terminal"`
	Auxiliary       Auxiliary        `yaml:"auxiliary"`
}

// Model says which model to use. Hermes writes it as a mapping; a plain name is
// taken too.
type Model struct {
	Default       string `yaml:"default"`
	Provider      string `yaml:"provider"`
	BaseURL       string `yaml:"base_url"`
	APIKey        Secret `yaml:"api_key"`
	ContextLength int    `yaml:"context_length"` // tokens; 0 when unknown
	// FirstByteTimeout and IdleTimeout bound the silences of an answer; 0 takes
	// the client's own limits.
	FirstByteTimeout Seconds `yaml:"first_byte_timeout"`
	IdleTimeout      Seconds `yaml:"idle_timeout"`
}

// CustomProvider is an endpoint that the person named; its models are
// custom:NAME:MODEL.
type CustomProvider struct {
	Name    string `yaml:"name"`
	BaseURL string `yaml:"base_url"`
	APIKey  Secret `yaml:"api_key"`
	KeyEnv  string `yaml:"key_env"`
	Model   string `yaml:"model"`
}

// Approvals are the settings of permission requests.
type Approvals struct {
	// Timeout is how long a question waits for its answer.
	Timeout Seconds `yaml:"timeout"`
}

// ACP are the settings of the protocol's connection.
type ACP struct {
	// MaxLineMiB is the longest line taken from a client.
	MaxLineMiB int `yaml:"max_line_mib"`
}

// Compression says when a conversation is compacted.
type Compression struct {
	Enabled         bool    `yaml:"enabled"`
	Threshold       float64 `yaml:"threshold"`        // share of the context window
	ThresholdTokens int     `yaml:"threshold_tokens"` // never above this many
	// InPlace keeps the Hermes session instead of rotating it.
	InPlace bool `yaml:"in_place"`
}

// Agent are the settings of turns.
type Agent struct {
	MaxTurns         int      `yaml:"max_turns"` // model calls in one turn
	ReasoningEffort  string   `yaml:"reasoning_effort"`
	DisabledToolsets []string `yaml:"disabled_toolsets"`
}

// Terminal are the settings of commands.
type Terminal struct {
	Timeout Seconds `yaml:"timeout"`
	// EnvPassthrough names variables that commands see although they hold keys.
	EnvPassthrough []string `yaml:"env_passthrough"`
}

// Auxiliary are the models for work beside the conversation.
type Auxiliary struct {
	TitleGeneration AuxiliaryModel `yaml:"title_generation"`
}

// AuxiliaryModel is a model that a person may choose for one kind of work.
type AuxiliaryModel struct {
	Provider string `yaml:"provider"` // empty or auto: the one of the conversation
	Model    string `yaml:"model"`
}

// ID is the id that Config.Endpoint takes, empty when no model was chosen.
func (m AuxiliaryModel) ID() string {
	if m.Model == "" || m.Provider == "" || m.Provider == "auto" {
		return m.Model
	}
	return m.Provider + ":" + m.Model
}

// DefaultSettings are the settings of an empty config.yaml.
func DefaultSettings() Settings {
	return Settings{
		Approvals: Approvals{Timeout: Seconds(5 * time.Minute)},
		ACP:       ACP{MaxLineMiB: 64},
		Compression: Compression{
			Enabled: true, Threshold: 0.5, ThresholdTokens: 256_000,
		},
		Agent:    Agent{MaxTurns: 90},
		Terminal: Terminal{Timeout: Seconds(3 * time.Minute)},
	}
}

func parseSettings(path, text string) (Settings, error) {
	s := DefaultSettings()
	if reason := notUTF8(text); reason != "" {
		return s, &FileError{Path: path, Reason: reason}
	}
	if err := yaml.Unmarshal([]byte(text), &s); err != nil {
		line, reason := yamlReason(err)
		return s, &FileError{Path: path, Line: line, Reason: reason}
	}
	return s, nil
}

// yamlReason takes the first complaint of the YAML parser apart. It leaves out what
// the parser quotes of the file.
func yamlReason(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	if te, ok := errors.AsType[*yaml.TypeError](err); ok {
		reason = te.Errors[0]
	}
	line = 1 // the parser names every line but the first
	if m := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits, by the pattern
		reason = m[2]
	}
	if m := regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`.*` )?into (.+)$").FindStringSubmatch(reason); m != nil {
		reason = fmt.Sprintf("this is %s, where %s belongs", yamlKind(m[1]), goKind(m[2]))
	}
	return line, reason
}

// yamlKind is a tag of YAML in words.
func yamlKind(tag string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	case "str":
		return "a text"
	case "int", "float":
		return "a number"
	}
	return "of the kind " + tag
}

// goKind is the type of a setting in words.
func goKind(name string) string {
	switch {
	case name == "int":
		return "a whole number"
	case name == "float64":
		return "a number"
	case name == "bool":
		return "true or false"
	case name == "string", strings.HasSuffix(name, ".Secret"):
		return "a text"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	}
	return "a mapping"
}

// UnmarshalYAML takes a mapping or a plain name.
func (m *Model) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&m.Default)
	}
	type plain Model
	return n.Decode((*plain)(m))
}

// Seconds is a length of time. In YAML it is a number of seconds, or a text such
// as "5m".
type Seconds time.Duration

// Duration returns it as Go has it.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// UnmarshalYAML keeps the default where Hermes does: for booleans and for
// numbers that are not finite.
func (s *Seconds) UnmarshalYAML(n *yaml.Node) error {
	const limit = 365 * 24 * 3600
	var number float64
	if n.Tag == "!!bool" || n.Tag == "!!null" {
		return nil
	}
	if n.Decode(&number) == nil {
		if !math.IsNaN(number) && !math.IsInf(number, 0) {
			*s = Seconds(max(min(number, limit), -limit) * float64(time.Second))
		}
		return nil
	}
	d, err := time.ParseDuration(n.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: this is not a number of seconds", n.Line)}}
	}
	*s = Seconds(d)
	return nil
}
