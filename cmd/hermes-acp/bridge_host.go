//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// bridgeHostCommand is what the launcher on Windows starts inside WSL.
func bridgeHostCommand() *cli.Command {
	return &cli.Command{
		Name: "bridge-host", Usage: "serve an editor on Windows (started by hermes-acp.exe)", ArgsUsage: "[-- COMMAND ARGS]", Hidden: true,
		Flags: append(serveFlags(),
			&cli.BoolFlag{Name: "terminal", Usage: "run COMMAND on this terminal, as its login needs it"}),
		Action: bridgeHostAction,
	}
}

func bridgeHostAction(c *cli.Context) error {
	source, err := sourceFrom(c)
	if err != nil {
		return err
	}
	log, logPath, closeLog := newLogger(os.Stderr, filepath.Join(source.Home, "logs"))
	defer closeLog()
	login := &wslbridge.LoginEnvironment{OnDrvfs: onDrvfs, Log: log}
	command := c.Args().Slice()
	if c.Bool("terminal") {
		return runOnTerminal(c.Context, login, command)
	}
	tracePath, err := translateWindowsPath(c.String("trace"))
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	trace, closeTrace, err := openTrace(tracePath)
	if err != nil {
		return err
	}
	defer closeTrace()
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home folder: %w", err)
	}
	pruneStore(home, log)
	rewrite := wslRewriteConfig(login, log)
	rewrite.ThirdParty = len(command) > 0
	in, out := takeStdio()
	host := &wslbridge.Host{
		Version: version,
		Home:    home,
		Serve: func(ctx context.Context, r io.Reader, w io.Writer) error {
			return serve(ctx, r, w, source, "hermes-acp.exe --setup", nil, log)
		},
		Command:  command,
		Environ:  login.Environ,
		LookIn:   login.LookPath,
		Rewrite:  rewrite,
		MaxFrame: maxLine(source),
		Trace:    stageTrace(trace),
		Stdin:    in, Stdout: out, Stderr: os.Stderr, Log: log,
	}
	code, err := host.Run(c.Context)
	if err != nil {
		err = fmt.Errorf("%w (log: %s)", err, logPath)
	}
	if code == 0 {
		return err
	}
	return cli.Exit(err, code)
}

// pruneStore keeps the folder small that the launcher installs this program in.
func pruneStore(home string, log *slog.Logger) {
	executable, err := os.Executable()
	if err == nil {
		err = wslbridge.PruneStore(filepath.Join(home, wslbridge.StoreDir), executable)
	}
	if err != nil {
		log.Warn("old versions cannot be removed", "error", err)
	}
}

// runOnTerminal becomes command, with the environment of a login shell.
func runOnTerminal(ctx context.Context, login *wslbridge.LoginEnvironment, command []string) error {
	if len(command) == 0 {
		return errors.New("bridge-host --terminal: no command behind --")
	}
	path, err := login.LookPath(ctx, command[0])
	if err != nil {
		return fmt.Errorf("find %q: %w", command[0], err)
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, command, login.Environ(ctx)))
}
