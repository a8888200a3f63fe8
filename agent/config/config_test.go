package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent/config"
)

type env map[string]string

func (e env) lookup(name string) (string, bool) {
	v, ok := e[name]
	return v, ok
}

// source writes a home folder. Files that are empty are not made.
func source(tb testing.TB, environ env, dotenv, yaml string) config.Source {
	tb.Helper()
	home := tb.TempDir()
	for name, text := range map[string]string{".env": dotenv, "config.yaml": yaml} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return config.Source{Home: home, LookupEnv: environ.lookup}
}

func read(tb testing.TB, s config.Source) *config.Config {
	tb.Helper()
	c, err := s.Read()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestSettings(t *testing.T) {
	t.Parallel()
	want := read(t, source(t, nil, "", "")).Settings
	if want.Approvals.Timeout.Duration() != 5*time.Minute || !want.Compression.Enabled || want.ACP.MaxLineMiB != 64 {
		t.Errorf("defaults: %+v", want)
	}
	tests := map[string]struct {
		yaml string
		edit func(*config.Settings)
	}{
		"plain model": {"model: gpt-5\n", func(s *config.Settings) { s.Model.Default = "gpt-5" }},
		"as Hermes": {"model:\n  default: m\n  provider: openrouter\n  base_url: https://x/v1\n  context_length: 200000\n", func(s *config.Settings) {
			s.Model = config.Model{Default: "m", Provider: "openrouter", BaseURL: "https://x/v1", ContextLength: 200000}
		}},
		"other keys":                       {"tts:\n  provider: edge\nmodel:\n  api_mode: chat_completions\n", func(*config.Settings) {}},
		"timeout":                          {"approvals: {timeout: 90, mode: manual}\n", func(s *config.Settings) { s.Approvals.Timeout = config.Seconds(90 * time.Second) }},
		"timeout text":                     {"approvals: {timeout: 10m}\n", func(s *config.Settings) { s.Approvals.Timeout = config.Seconds(10 * time.Minute) }},
		"seconds":                          {"approvals: {timeout: 1.5}\n", func(s *config.Settings) { s.Approvals.Timeout = config.Seconds(1500 * time.Millisecond) }},
		"seconds ignore what is no number": {"approvals: {timeout: true}\n", func(*config.Settings) {}},
		"seconds ignore infinity":          {"approvals: {timeout: .inf}\n", func(*config.Settings) {}},
		"longest line":                     {"acp: {max_line_mib: 8}\n", func(s *config.Settings) { s.ACP.MaxLineMiB = 8 }},
		"compression": {
			"compression: {enabled: false, threshold: 0.8, threshold_tokens: 9, in_place: true}\n",
			func(s *config.Settings) {
				s.Compression = config.Compression{Threshold: 0.8, ThresholdTokens: 9, InPlace: true}
			},
		},
		"title model": {"auxiliary: {title_generation: {provider: auto, model: small}}\n", func(s *config.Settings) {
			s.Auxiliary.TitleGeneration = config.AuxiliaryModel{Provider: "auto", Model: "small"}
		}},
		"agent": {
			"agent: {max_turns: 5, reasoning_effort: high, disabled_toolsets: [web]}\nterminal: {env_passthrough: [GROQ_API_KEY]}\n",
			func(s *config.Settings) {
				s.Agent = config.Agent{MaxTurns: 5, ReasoningEffort: "high", DisabledToolsets: []string{"web"}}
				s.Terminal.EnvPassthrough = []string{"GROQ_API_KEY"}
			},
		},
		"CRLF and byte order mark": {"\ufeffmodel:\r\n  default: m\r\n", func(s *config.Settings) { s.Model.Default = "m" }},
		"empty document":           {"# nothing yet\n", func(*config.Settings) {}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := want
			tt.edit(&want)
			got := read(t, source(t, nil, "", tt.yaml)).Settings
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuxiliaryModelID(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]config.AuxiliaryModel{
		"":                 {Provider: "openrouter"},
		"small":            {Provider: "auto", Model: "small"},
		"small:latest":     {Model: "small:latest"},
		"openrouter:small": {Provider: "openrouter", Model: "small"},
	} {
		if got := m.ID(); got != want {
			t.Errorf("%+v has the id %q, want %q", m, got, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dotenv, yaml string
		want         config.FileError // Path is a name in the home folder
	}{
		"yaml syntax":        {"", "model: a\nagent: b: c\n", config.FileError{Path: "config.yaml", Line: 2, Reason: "mapping values are not allowed in this context"}},
		"yaml type":          {"", "model: a\nagent:\n  max_turns: many\n", config.FileError{Path: "config.yaml", Line: 3, Reason: "this is a text, where a whole number belongs"}},
		"yaml list":          {"", "model: [a, b]\n", config.FileError{Path: "config.yaml", Line: 1, Reason: "this is a list, where a mapping belongs"}},
		"yaml no list":       {"", "terminal:\n  env_passthrough: {a: b}\n", config.FileError{Path: "config.yaml", Line: 2, Reason: "this is a mapping, where a list belongs"}},
		"yaml no truth":      {"", "compression:\n  enabled: sk-secret\n", config.FileError{Path: "config.yaml", Line: 2, Reason: "this is a text, where true or false belongs"}},
		"yaml tab":           {"", "\tmodel: a\n", config.FileError{Path: "config.yaml", Line: 1, Reason: "found character that cannot start any token"}},
		"yaml seconds":       {"", "approvals:\n  timeout: soon\n", config.FileError{Path: "config.yaml", Line: 2, Reason: "this is not a number of seconds"}},
		"dotenv":             {"A=1\n# fine\nsk-secret with words\nB=2\n", "", config.FileError{Path: ".env", Line: 3, Reason: "this is not NAME=value, or a quote is not closed"}},
		"dotenv, first line": {"sk-secret with words\n", "", config.FileError{Path: ".env", Line: 1, Reason: "this is not NAME=value, or a quote is not closed"}},
		"dotenv, open quote": {"A=1\nB=\"sk-secret\nC=3\n", "", config.FileError{Path: ".env", Line: 2, Reason: "this is not NAME=value, or a quote is not closed"}},
		"dotenv in UTF-16":   {"\xff\xfeA\x00=\x001\x00", "", config.FileError{Path: ".env", Reason: "the file is UTF-16; save it as UTF-8"}},
		"yaml in UTF-16":     {"", "\xff\xfeA\x00", config.FileError{Path: "config.yaml", Reason: "the file is UTF-16; save it as UTF-8"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source(t, nil, tt.dotenv, tt.yaml)
			_, err := s.Read()
			got, ok := errors.AsType[*config.FileError](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			tt.want.Path = filepath.Join(s.Home, tt.want.Path)
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

func TestConfigIsAFolder(t *testing.T) {
	t.Parallel()
	s := source(t, nil, "", "")
	if err := os.Mkdir(filepath.Join(s.Home, "config.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := s.Read()
	if got, ok := errors.AsType[*config.FileError](err); !ok || got.Path != filepath.Join(s.Home, "config.yaml") {
		t.Errorf("error %v", err)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	abs := filepath.Join(t.TempDir(), "h")
	tests := map[string]struct {
		env  env
		want string
	}{
		"default":     {env{"HOME": abs}, filepath.Join(abs, ".hermes")},
		"HERMES_HOME": {env{"HOME": abs, "HERMES_HOME": filepath.Join(abs, "x", "..", "y")}, filepath.Join(abs, "y")},
		"tilde":       {env{"HOME": abs, "HERMES_HOME": "~/z"}, filepath.Join(abs, "z")},
	}
	for name, tt := range tests {
		if got, err := config.Home(tt.env.lookup); err != nil || got != tt.want {
			t.Errorf("%s: %q, error %v; want %q", name, got, err, tt.want)
		}
	}
	if got, err := config.Home(env{"HOME": abs, "HERMES_HOME": "relative"}.lookup); err == nil {
		t.Errorf("a relative HERMES_HOME gave %q", got)
	}
	if got, err := config.Home(env{}.lookup); err != nil || !filepath.IsAbs(got) {
		t.Errorf("without HOME: %q, error %v", got, err)
	}
}

func TestSecretStaysHidden(t *testing.T) {
	t.Parallel()
	key := config.Secret("sk-secret")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "key", key, "endpoint", config.Endpoint{Key: key})
	asJSON, err := json.Marshal(config.Endpoint{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		log.String(), string(asJSON),
		fmt.Sprint(key), fmt.Sprintf("%s %v %+v %#v %q %x %d", key, key, key, key, key, key, key),
		fmt.Sprintf("%+v %#v", config.Endpoint{Key: key}, config.Endpoint{Key: key}),
	} {
		if strings.Contains(text, "sk-secret") || strings.Contains(text, "736b2d") || !strings.Contains(text, "[redacted]") {
			t.Errorf("printed %q", text)
		}
	}
	if string(key) != "sk-secret" || fmt.Sprint(config.Secret("")) != "" {
		t.Error("a secret is not its own text, or an empty one claims to be there")
	}
}

func BenchmarkRead(b *testing.B) {
	s := source(b, env{"HOME": "/home/x"},
		"OPENROUTER_API_KEY=sk-or-1\r\nOPENAI_API_KEY=sk-2\r\n# a comment\r\nHERMES_MODEL=m\r\n",
		"model:\n  default: anthropic/claude-sonnet-4.5\n  provider: openrouter\napprovals:\n  timeout: 300\ncompression:\n  enabled: true\nterminal:\n  backend: local\n  timeout: 180\n")
	b.ReportAllocs()
	for b.Loop() {
		c, err := s.Read()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Endpoint(""); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	source := config.Source{Home: home, LookupEnv: func(string) (string, bool) { return "", false }}
	none := source.Stamp()
	if !none.Settled() {
		t.Error("files that are not there are not settled")
	}
	path := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(path, []byte("model: a"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := source.Stamp()
	if fresh == none || fresh.Settled() {
		t.Errorf("a file that was just written: %v, settled %v", fresh, fresh.Settled())
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if aged := source.Stamp(); aged == fresh || !aged.Settled() || aged != source.Stamp() {
		t.Errorf("a file of a minute ago: %v", aged)
	}
}
