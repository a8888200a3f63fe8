//go:build !windows

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// checkup is one run of doctor on Linux or macOS: what its checks look at.
type checkup struct {
	source    config.Source
	config    *config.Config // nil when configErr is set
	configErr error
	cwd       string // of the project; inside WSL it may be a Windows path
	offline   bool
	shell     string // of the person, an absolute path
	login     *wslbridge.LoginEnvironment
	onDrvfs   func(path string) bool // reports whether a path is on a Windows drive
	wsl       *wslMachine            // nil outside WSL
	launched  bool                   // by hermes-acp.exe, so the person is on Windows
}

// checks are in the order in which one depends on another. Each returns what it
// found, or nothing when it does not apply.
func (c *checkup) checks() []func(context.Context) []finding {
	return []func(context.Context) []finding{
		c.distro, c.drives, c.interop, c.windowsVariables,
		c.configuration, c.provider, c.endpoint,
		c.privacy, c.database, c.logs,
		c.commandShell, c.loginShell, c.git, c.windowsPrograms,
		c.project,
	}
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: doctorUsage, Flags: doctorFlags(),
		Action: func(c *cli.Context) error {
			r := newReport(c)
			r.add(program())
			if examined, err := newCheckup(c); err != nil {
				r.add(failure("folder", err.Error(), "unset HERMES_HOME, or set it to an absolute path of Linux, such as "+filepath.Join(personHome(), ".hermes")))
			} else {
				for _, check := range examined.checks() {
					r.add(check(c.Context)...)
				}
			}
			return r.end()
		},
	}
}

func program() finding {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	return fine("program", fmt.Sprintf("hermes-acp %s for %s/%s, %s", versionText(), runtime.GOOS, runtime.GOARCH, path))
}

func newCheckup(cmd *cli.Context) (*checkup, error) {
	source, err := sourceFrom(cmd)
	if err != nil {
		return nil, err
	}
	c := &checkup{
		source:  source,
		cwd:     cmd.String("cwd"),
		offline: cmd.Bool("offline"),
		shell:   os.Getenv("SHELL"),
		onDrvfs: func(string) bool { return false },
	}
	c.config, c.configErr = source.Read()
	if !filepath.IsAbs(c.shell) {
		c.shell = "/bin/sh"
	}
	_, c.launched = os.LookupEnv(wslbridge.ForwardedEnv)
	if insideWSL() {
		c.onDrvfs = onDrvfs
		c.wsl = thisWSLMachine()
	}
	c.login = &wslbridge.LoginEnvironment{Shell: c.shell, OnDrvfs: c.onDrvfs, Log: slog.New(slog.DiscardHandler)}
	return c, nil
}

// toType tells where and how to type a command.
func (c *checkup) toType(command string) string {
	if c.wsl != nil && c.wsl.distro != "" {
		return fmt.Sprintf("inside %s (in PowerShell: wsl -d %[1]s) run: %s", c.wsl.distro, command)
	}
	return "in a terminal run: " + command
}

// toRun tells where and how to run this program.
func (c *checkup) toRun(args string) string {
	if c.launched {
		return "in PowerShell run: hermes-acp.exe " + args
	}
	program, _ := installedProgram()
	return c.toType(shellWord(shortCommand(program)) + " " + args)
}
