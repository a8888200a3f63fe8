package wslbridge

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConfig(t *testing.T) {
	text := "\xef\xbb\xbfdistro: Ubuntu\r\nuser: me\r\nagents:\r\n  codex:\r\n    distro: Debian\r\n    command: codex-acp\r\n    args: [--x, \"a b\"]\r\n    env: {CODEX_HOME: /home/me/codex}\r\n"
	want := Config{
		Distro: "Ubuntu", User: "me",
		Agents: map[string]AgentConfig{"codex": {
			Distro: "Debian", Command: "codex-acp", Args: []string{"--x", "a b"},
			Env: map[string]string{"CODEX_HOME": "/home/me/codex"},
		}},
	}
	path := filepath.Join(t.TempDir(), "bridge.yaml")
	if got, err := ReadConfig(path); err != nil || !cmp.Equal(got, Config{}) {
		t.Errorf("a missing file: %+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if _, err := got.Agent("gemini"); !errors.Is(err, ErrUnknownAgent) || !strings.Contains(err.Error(), "codex") {
		t.Errorf("an unknown agent: %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"distro: Ubuntu\ndistroo: x\n":                    "line 2",
		"distro: [a]\n":                                   "line 1",
		"distro: Ubuntu\nagents:\n\tx: y\n":               "line 3",
		"agents:\n  a: {args: [x]}\n":                     "line 2: agents.a has no command",
		"agents:\n  a: {command: x, env: {\"A:B\": c}}\n": `line 2: agents.a.env: "A:B"`,
		"agents:\n  b: {command: x}\n  a:\n    command: x\n    env:\n      K: v\n      A B: c\n": `line 7: agents.a.env: "A B"`,
		"agents:\n  a:\n    command: x\n    environment: {TOKEN: s3}\n":                          "line 4",
	} {
		if _, err := parseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s in it", text, err, want)
		}
	}
}
