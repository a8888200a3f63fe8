package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// doctorCommand looks at Windows, then starts doctor inside WSL.
func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: doctorUsage, Flags: append(bridgeFlags(), doctorFlags()...),
		Action: func(c *cli.Context) error {
			r := newReport(c)
			self, err := os.Executable()
			if err != nil {
				self = os.Args[0]
			}
			r.add(fine("launcher", fmt.Sprintf("hermes-acp %s for windows/%s, %s", versionText(), runtime.GOARCH, self)))
			r.add(thisWindowsMachine().findings()...)
			if r.failed() {
				r.add(failure("inside WSL", "not looked at, since the launcher would not get there", "mend what failed above, then run doctor again"))
				return r.end()
			}
			if err := withLauncher(c, lookInside(c, r)); err != nil {
				r.add(failureOf("inside WSL", err, "mend what it names, then run doctor again"))
			}
			return r.end()
		},
	}
}

func thisWindowsMachine() windowsMachine {
	m := windowsMachine{
		configPath: bridgeConfigPath(),
		drives:     wslbridge.ReadDrives(),
		logs:       filepath.Join(localAppData(), "logs"),
		gitBash:    os.Getenv("MSYSTEM") != "" && os.Getenv("MSYS_NO_PATHCONV") == "",
	}
	m.wsl, _ = wslbridge.FindWSL()
	_, m.wslErr = os.Stat(m.wsl)
	if _, m.configErr = os.Stat(m.configPath); m.configErr == nil {
		_, m.configErr = wslbridge.ReadConfig(m.configPath)
	}
	m.registered, m.registeredErr = wslbridge.ReadRegistered()
	m.logsErr = os.MkdirAll(m.logs, logDirMode)
	if probe, err := os.CreateTemp(m.logs, "doctor-*"); err != nil {
		m.logsErr = errors.Join(m.logsErr, err)
	} else {
		m.logsErr = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	return m
}

// lookInside chooses a distro, brings the agent there, and adds what doctor finds there.
func lookInside(c *cli.Context, r *report) func(context.Context, *wslbridge.Launcher) (int, error) {
	return func(ctx context.Context, l *wslbridge.Launcher) (int, error) {
		distro, choice := chosenDistro(l)
		r.add(choice)
		if choice.Status == healthFail {
			return 0, nil
		}
		cwd, err := filepath.Abs(c.String("cwd"))
		if err != nil {
			return 1, err
		}
		args := []string{"doctor", "--json", "--cwd", withoutMapping(cwd, l.Drives)}
		if c.Bool("offline") {
			args = append(args, "--offline")
		}
		var printed, said bytes.Buffer
		l.Stdin, l.Stdout, l.Stderr = nil, &printed, &said
		err = l.Provision(ctx, distro)
		exit := 1
		if err == nil {
			exit, err = l.RunInside(ctx, distro, args...)
		}
		r.add(insideFindings(distro.Name, printed.Bytes(), strings.TrimSpace(said.String()), exit, err)...)
		return 0, nil
	}
}
