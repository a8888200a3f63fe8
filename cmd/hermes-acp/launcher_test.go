package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// launcherOf is what a command line on Windows makes of a launcher.
func launcherOf(t *testing.T, config wslbridge.Config, env map[string]string, args ...string) (*wslbridge.Launcher, error) {
	t.Helper()
	l := &wslbridge.Launcher{Environ: []string{"A=b"}}
	app := &cli.App{
		Flags:          bridgeFlags(),
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			wish, err := bridgeWishOf(c)
			if err != nil {
				return err
			}
			return wish.apply(l, config, func(name string) string { return env[name] })
		},
	}
	return l, app.Run(append([]string{"hermes-acp.exe"}, args...))
}

func TestLauncherCommandLine(t *testing.T) {
	config := wslbridge.Config{
		Distro: "Ubuntu", User: "me",
		Agents: map[string]wslbridge.AgentConfig{
			"codex": {Distro: "Debian", Command: "codex-acp", Args: []string{"-c", "x y"}, Env: map[string]string{"K": "v", "A": "z"}},
			"plain": {Command: "agent"},
		},
	}
	type want struct {
		Distro, Source, User string
		HostArgs             []string
		EnvNames, Environ    []string
	}
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
		want want
	}{
		"nothing": {nil, nil, want{"Ubuntu", "bridge.yaml", "me", []string{"bridge-host"}, nil, []string{"A=b"}}},
		"flags win": {
			[]string{"--distro", "Arch", "--user=you", "--env", "K1", "--env", "K2"},
			map[string]string{distroEnv: "Fedora"},
			want{"Arch", "--distro", "you", []string{"bridge-host"}, []string{"K1", "K2"}, []string{"A=b"}},
		},
		"environment before file": {nil, map[string]string{distroEnv: "Fedora"}, want{"Fedora", distroEnv, "me", []string{"bridge-host"}, nil, []string{"A=b"}}},
		"another agent": {
			[]string{"--", "codex-acp", "--distro", "x", "--version"},
			nil,
			want{"Ubuntu", "bridge.yaml", "me", []string{"bridge-host", "--", "codex-acp", "--distro", "x", "--version"}, nil, []string{"A=b"}},
		},
		"a named agent": {
			[]string{"--agent", "codex", "--", "login"},
			nil,
			want{
				"Debian", "agents.codex in bridge.yaml", "me",
				[]string{"bridge-host", "--", "codex-acp", "-c", "x y", "login"},
				[]string{"A", "K"},
				[]string{"A=b", "A=z", "K=v"},
			},
		},
		"an agent without a distro": {[]string{"--agent", "plain"}, nil, want{"Ubuntu", "bridge.yaml", "me", []string{"bridge-host", "--", "agent"}, nil, []string{"A=b"}}},
		"a trace of another agent":  {[]string{"--trace", "/t", "--", "agent"}, nil, want{"Ubuntu", "bridge.yaml", "me", []string{"bridge-host", "--trace", "/t", "--", "agent"}, nil, []string{"A=b"}}},
		"flags of Hermes":           {[]string{"--model", "m", "--provider", "p"}, nil, want{"Ubuntu", "bridge.yaml", "me", []string{"bridge-host", "--model", "m", "--provider", "p"}, nil, []string{"A=b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := launcherOf(t, config, tc.env, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			got := want{l.Distro.Name, l.Distro.Source, l.User, l.HostArgs, l.EnvNames, l.Environ}
			if len(got.EnvNames) == 0 {
				got.EnvNames = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLauncherCommandLineErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		is   error
		text string
	}{
		"unknown agent":              {[]string{"--agent", "nope"}, wslbridge.ErrUnknownAgent, "plain"},
		"a model for another agent":  {[]string{"--model", "m", "--", "codex-acp"}, nil, "--model"},
		"mangled by Git Bash":        {[]string{"--", "C:/Program Files/Git/home/u/agent"}, errGitBash, "MSYS_NO_PATHCONV=1"},
		"mangled, in an argument":    {[]string{"--", "agent", `--config=D:\Git\etc\x`}, nil, ""},
		"mangled, a plain argument":  {[]string{"--", "agent", `D:\Git\etc\x`}, errGitBash, "MSYS_NO_PATHCONV=1"},
		"a real folder of that name": {[]string{"--", "agent", "/home/u/Git/home/x"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := launcherOf(t, wslbridge.Config{Agents: map[string]wslbridge.AgentConfig{"plain": {Command: "x"}}}, nil, tc.args...)
			switch {
			case tc.text == "" && err == nil:
			case err == nil || !strings.Contains(err.Error(), tc.text) || tc.is != nil && !errors.Is(err, tc.is):
				t.Errorf("error = %v", err)
			}
		})
	}
}
