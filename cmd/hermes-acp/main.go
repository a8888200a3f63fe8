// Command hermes-acp is Hermes for editors: an Agent Client Protocol agent on
// stdio and, on Windows, the launcher that runs it inside WSL.
//
// This package is the only one that knows all the others. It holds the flags,
// the configuration, the wiring and the exit codes; nothing imports it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// version is the release that this is, or that comes next. The release build sets
// it from the tag; the launcher compares it with the agent's.
var version = "0.1.0"

func main() {
	os.Exit(run(context.Background(), os.Args, os.Stderr))
}

// run is main with its exit code as a value: 0, 1 for a failure that it has
// reported on stderr, or the code that a command asks for.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	err := refuseQuietly(newApp()).RunContext(ctx, withActionFirst(args))
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[cli.ExitCoder](err); ok {
		if msg := exit.Error(); msg != "" {
			fmt.Fprintln(stderr, "hermes-acp: "+msg)
		}
		return exit.ExitCode()
	}
	fmt.Fprintln(stderr, "hermes-acp: "+err.Error())
	return 1
}

// versionText is the version with the commit of a build that has one.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + "+" + s.Value[:12]
		}
	}
	return version
}
