package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// distroEnv names the distro unless --distro does.
const distroEnv = "HERMES_ACP_DISTRO"

// bridgeFlags are the flags of the program on Windows. The rest are passed on to the agent inside
// WSL.
func bridgeFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "distro", Usage: "run inside the WSL distro `NAME`"},
		&cli.StringFlag{Name: "user", Usage: "run as the Linux user `NAME`"},
		&cli.StringFlag{Name: "agent", Usage: "run the agent that bridge.yaml calls `NAME` instead of Hermes"},
		&cli.StringSliceFlag{Name: "env", Usage: "pass the environment variable `NAME` into WSL"},
		&cli.StringFlag{Name: "linux-binary", Usage: "the hermes-acp for Linux to install inside WSL, a `FILE`", EnvVars: []string{"HERMES_ACP_LINUX_BINARY"}},
	}, modelFlags(), ignoredFlags())
}

// bridgeWish is what a command line on Windows asks for.
type bridgeWish struct {
	distro, user, agent string
	envNames            []string
	command             []string // behind `--`
	agentFlags          []string // for Hermes inside WSL
	trace               string   // absolute Windows path; "" records nothing
}

func bridgeWishOf(c *cli.Context) (bridgeWish, error) {
	wish := bridgeWish{
		distro: c.String("distro"), user: c.String("user"), agent: c.String("agent"),
		envNames: c.StringSlice("env"), command: c.Args().Slice(),
	}
	for _, name := range []string{"model", "provider", "base-url"} {
		if value := c.String(name); value != "" {
			wish.agentFlags = append(wish.agentFlags, "--"+name, value)
		}
	}
	if len(wish.agentFlags) > 0 && (wish.agent != "" || len(wish.command) > 0) {
		return bridgeWish{}, fmt.Errorf("%s is for Hermes, not for another agent", wish.agentFlags[0])
	}
	if file := c.String("trace"); file != "" {
		var err error
		if wish.trace, err = filepath.Abs(file); err != nil {
			return bridgeWish{}, fmt.Errorf("--trace: %w", err)
		}
	}
	return wish, nil
}

// apply fills in what depends on the wish, the configuration and the environment.
func (w bridgeWish) apply(l *wslbridge.Launcher, config wslbridge.Config, lookupEnv func(string) string) error {
	l.User, l.EnvNames = config.User, w.envNames
	if w.user != "" {
		l.User = w.user
	}
	command := w.command
	var agent wslbridge.AgentConfig
	if w.agent != "" {
		var err error
		if agent, err = config.Agent(w.agent); err != nil {
			return err
		}
		command = slices.Concat([]string{agent.Command}, agent.Args, w.command)
		for _, name := range slices.Sorted(maps.Keys(agent.Env)) {
			l.Environ = append(l.Environ, name+"="+agent.Env[name])
			l.EnvNames = append(l.EnvNames, name)
		}
	}
	for _, wish := range []wslbridge.Wish{
		{Name: w.distro, Source: "--distro"},
		{Name: lookupEnv(distroEnv), Source: distroEnv},
		{Name: agent.Distro, Source: "agents." + w.agent + " in bridge.yaml"},
		{Name: config.Distro, Source: "bridge.yaml"},
	} {
		if l.Distro = wish; wish.Name != "" {
			break
		}
	}
	if mangled := mangledByGitBash(command); mangled != "" {
		return fmt.Errorf("%w: %s; in that window run first: export MSYS_NO_PATHCONV=1", errGitBash, mangled)
	}
	l.HostArgs = append([]string{"bridge-host"}, w.agentFlags...)
	if w.trace != "" { // the host translates it, before it knows of mapped drives
		l.HostArgs = append(l.HostArgs, "--trace", withoutMapping(w.trace, l.Drives))
	}
	if len(command) > 0 {
		l.HostArgs = slices.Concat(l.HostArgs, []string{"--"}, command)
	}
	return nil
}

var errGitBash = errors.New("a Linux path was turned into one of Windows by Git Bash")

// mangledByGitBash returns a word that began as /home/... and got the folder of Git in front.
func mangledByGitBash(words []string) string {
	for _, word := range words {
		lower := strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
		for _, dir := range []string{"home", "usr", "opt", "bin", "mnt", "etc", "var", "tmp"} {
			if strings.Contains(lower, "/git/"+dir+"/") && len(lower) > 2 && lower[1] == ':' {
				return word
			}
		}
	}
	return ""
}
