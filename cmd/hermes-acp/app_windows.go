package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/windows"
	"golang.org/x/term"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// newApp is the command line on Windows: a launcher for agents inside WSL.
func newApp() *cli.App {
	return &cli.App{
		Name:        "hermes-acp",
		Usage:       "Hermes for editors: an Agent Client Protocol coding agent that runs inside WSL",
		UsageText:   "hermes-acp.exe [--distro NAME] [--user NAME] [--env NAME] [--agent NAME] [-- COMMAND ARGS]",
		Description: "With no command it starts the agent inside WSL and connects it to stdin and stdout; an\neditor starts it that way. With -- COMMAND ARGS, or --agent NAME, it does so for any other\nagent that is installed inside WSL. Paths are translated both ways.\n" + actionsHelp,
		HideVersion: true,
		// run prints errors and chooses the exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		Flags:          bridgeFlags(),
		Action:         bridgeOrExplain,
		Commands: []*cli.Command{
			{Name: "serve", Aliases: []string{"acp"}, Usage: "connect an editor, the same as no command", Flags: bridgeFlags(), Action: bridgeAction},
			runCommand(),
			demoCommand(),
			pathsCommand(),
			editorsCommand(),
			insideCommand("sessions", "list, show, export and remove conversations inside WSL"),
			insideCommand("rules", "list and remove what is always allowed"),
			doctorCommand(),
			actionInsideCommand("setup", "choose a model provider and store its key"),
			actionInsideCommand("check", "is everything in place to serve a prompt?"),
			uninstallCommand(),
			versionCommand(),
		},
	}
}

// actionFlags are the flags that actions such as --check depend on.
var actionFlags = []string{"distro", "user", "env", "linux-binary", "model", "provider", "base-url"}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, version)
			return err
		},
	}
}

// localAppData is the folder for what belongs to this machine.
func localAppData() string {
	if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
		return filepath.Join(dir, "hermes-acp")
	}
	return filepath.Join(os.Getenv("USERPROFILE"), "AppData", "Local", "hermes-acp")
}

func bridgeConfigPath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		dir = filepath.Join(os.Getenv("USERPROFILE"), "AppData", "Roaming")
	}
	return filepath.Join(dir, "hermes-acp", "bridge.yaml")
}

// newLauncher makes what c asks for.
func newLauncher(c *cli.Context, log *slog.Logger) (*wslbridge.Launcher, error) {
	wish, err := bridgeWishOf(c)
	if err != nil {
		return nil, err
	}
	config, err := wslbridge.ReadConfig(bridgeConfigPath())
	if err != nil {
		return nil, err
	}
	l := &wslbridge.Launcher{
		Version: version,
		Environ: os.Environ(),
		Drives:  wslbridge.ReadDrives(),
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Log: log,
	}
	l.WSL, l.SystemDir = wslbridge.FindWSL()
	if l.WorkDir, err = os.Getwd(); err != nil {
		l.WorkDir = ""
	}
	if l.Registered, err = wslbridge.ReadRegistered(); err != nil {
		return nil, err
	}
	if self, err := os.Executable(); err == nil {
		l.Command = append([]string{self}, os.Args[1:]...)
	}
	if l.Payload, err = payload(c.String("linux-binary")); err != nil {
		return nil, err
	}
	return l, wish.apply(l, config, os.Getenv)
}

// payload is the Linux binary at path, or the embedded one.
func payload(path string) (*wslbridge.Payload, error) {
	arch := wslbridge.MachineArch()
	if path != "" {
		return wslbridge.ReadPayload(path, arch)
	}
	if arch != runtime.GOARCH {
		return nil, fmt.Errorf("this hermes-acp.exe is for %s and the machine is %s: download the one for %s", runtime.GOARCH, arch, arch)
	}
	return embeddedPayload()
}

// bridgeOrExplain connects an editor, and tells a person at a terminal what they started.
func bridgeOrExplain(c *cli.Context) error {
	atTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	if !atTerminal {
		return bridgeAction(c)
	}
	if c.Args().Present() || c.String("agent") != "" {
		return terminalAction(c)
	}
	explain(os.Stderr)
	if ownConsole() {
		fmt.Fprint(os.Stderr, "Press Enter to close this window.")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // whatever is typed, or closed
	}
	return nil
}

func explain(w io.Writer) {
	fmt.Fprint(w, `hermes-acp is a coding agent that editors start; it runs inside WSL and speaks
the Agent Client Protocol on stdin and stdout, so there is nothing to type here.
In PowerShell you may want:

  hermes-acp demo            see what it does, offline, without a key
  hermes-acp run "PROMPT"    one prompt in this folder, in this terminal
  hermes-acp --setup         choose a model provider
  hermes-acp --check         is everything in place?
  hermes-acp doctor          what is wrong, and how to mend it
  hermes-acp --help          all commands

To use it in an editor, give the editor this program's full path as the command.
`)
}

// ownConsole reports whether the console window closes with this program, as after a double click.
func ownConsole() bool {
	var processes [2]uint32
	list := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList")
	n, _, _ := list.Call(uintptr(unsafe.Pointer(&processes[0])), uintptr(len(processes)))
	return n == 1
}

// withLauncher runs use with a launcher and its log. Errors name the log file.
func withLauncher(c *cli.Context, use func(context.Context, *wslbridge.Launcher) (code int, err error)) error {
	log, logPath, closeLog := newLogger(io.Discard, filepath.Join(localAppData(), "logs"))
	defer closeLog()
	l, err := newLauncher(c, log)
	code := 1
	if err == nil {
		code, err = use(c.Context, l)
	}
	if err != nil {
		log.ErrorContext(c.Context, "failed", "error", err)
		return cli.Exit(fmt.Errorf("%w (log: %s)", err, logPath), code)
	}
	if code != 0 {
		return cli.Exit("", code)
	}
	return nil
}

func bridgeAction(c *cli.Context) error {
	return withLauncher(c, func(ctx context.Context, l *wslbridge.Launcher) (int, error) {
		l.Log.InfoContext(ctx, "connecting an editor", "version", versionText())
		return l.Run(ctx)
	})
}

// runInside runs hermes-acp inside WSL on this console.
func runInside(c *cli.Context, args ...string) error {
	return withLauncher(c, func(ctx context.Context, l *wslbridge.Launcher) (int, error) {
		distro, err := l.Choose()
		if err != nil {
			return 1, err
		}
		if err := l.Provision(ctx, distro); err != nil {
			return 1, err
		}
		// Ctrl-C is for what runs inside; wsl.exe passes it on.
		signal.Ignore(os.Interrupt)
		return l.RunInside(ctx, distro, args...)
	})
}

// terminalAction runs another agent's command on this console, as a login needs it.
func terminalAction(c *cli.Context) error {
	return withLauncher(c, func(ctx context.Context, l *wslbridge.Launcher) (int, error) {
		distro, err := l.Choose()
		if err != nil {
			return 1, err
		}
		inside := append([]string{l.HostArgs[0], "--terminal"}, l.HostArgs[1:]...)
		l.HostArgs = l.HostArgs[:1]
		if err := l.Provision(ctx, distro); err != nil {
			return 1, err
		}
		signal.Ignore(os.Interrupt)
		return l.RunInside(ctx, distro, inside...)
	})
}

// insideCommand is a command that runs inside WSL with the words behind its name.
func insideCommand(name, usage string) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, SkipFlagParsing: true,
		Action: func(c *cli.Context) error { return runInside(c, append([]string{name}, c.Args().Slice()...)...) },
	}
}

// actionInsideCommand is a flag such as --setup that is a command of its own.
func actionInsideCommand(name, usage string) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Hidden: true, Flags: bridgeFlags(),
		Action: func(c *cli.Context) error {
			wish, err := bridgeWishOf(c)
			if err != nil {
				return err
			}
			return runInside(c, append([]string{"--" + name}, wish.agentFlags...)...)
		},
	}
}

// uninstallCommand removes what the launcher has put into distros and on this machine.
func uninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "remove hermes-acp from WSL; conversations and settings in ~/.hermes stay", Flags: bridgeFlags(),
		Action: func(c *cli.Context) error {
			return withLauncher(c, func(ctx context.Context, l *wslbridge.Launcher) (int, error) {
				if err := uninstall(ctx, l, c.App.Writer); err != nil {
					return 1, err
				}
				fmt.Fprintf(c.App.Writer, "Logs are left in %s, and your settings in %s and ~/.hermes inside WSL.\n", localAppData(), bridgeConfigPath())
				return 0, nil
			})
		},
	}
}

func uninstall(ctx context.Context, l *wslbridge.Launcher, report io.Writer) error {
	distros := l.Registered.Distros
	if l.Distro.Name != "" {
		distro, err := l.Choose()
		if err != nil {
			return err
		}
		distros = []wslbridge.Distro{distro}
	}
	var errs []error
	for _, distro := range distros {
		if distro.IsHelper() || !distro.Ready {
			continue
		}
		if err := l.Uninstall(ctx, distro); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(report, "Removed from %s.\n", distro.Name)
	}
	return errors.Join(errs...)
}
