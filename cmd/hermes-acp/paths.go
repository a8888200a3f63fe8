package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// pathsCommand shows how paths are translated, for people and for scripts.
func pathsCommand() *cli.Command {
	return &cli.Command{
		Name:  "paths",
		Usage: "translate paths between Windows and WSL",
		Subcommands: []*cli.Command{
			pathsTranslateCommand(pathxlate.OpToLinux, "print the Linux path of paths and file URIs in any form"),
			pathsTranslateCommand(pathxlate.OpToWindows, "print the Windows path of Linux paths"),
			pathsTranslateCommand(pathxlate.OpURIToWindows, "print the file URI that Windows opens for file URIs of Linux"),
			pathsFrameCommand(),
		},
	}
}

func pathsTranslateCommand(op pathxlate.Op, usage string) *cli.Command {
	return &cli.Command{
		Name:      string(op),
		Usage:     usage,
		ArgsUsage: "PATH...",
		Description: `Prints one line for each PATH: ok, a tab and the result, or error, a tab, the name of
the error, a tab and what to do. "-" reads paths from stdin, one a line. Exits with 1
when any failed. Results that may hold a line feed or a tab want --json.`,
		Flags: append(machineFlags(),
			&cli.BoolFlag{Name: "msys", Usage: "read /c/dir and /cygdrive/c/dir as paths on drive C"},
			&cli.BoolFlag{Name: "json", Usage: "print a JSON object a line, with the form and the rule"},
		),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return fmt.Errorf("paths %s: give a path, or - to read paths from stdin", op)
			}
			t, err := pathsTranslator(c)
			if err != nil {
				return fmt.Errorf("paths %s: %w", op, err)
			}
			writeLine := writeTextLine
			if c.Bool("json") {
				writeLine = writeJSONLine
			}
			return translatePaths(c.App.Reader, c.App.Writer, c.Args().Slice(), func(w io.Writer, path string) (bool, error) {
				e := t.Explain(op, path)
				return e.Err == nil, writeLine(w, e)
			})
		},
	}
}

// machineFlags describe a machine to pathsTranslator.
func machineFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "distro", Usage: "the WSL distro `NAME` (default: this one)"},
		&cli.StringFlag{Name: "automount-root", Usage: "take every drive to be mounted below `DIR` (default outside of WSL: /mnt/)"},
		&cli.StringFlag{Name: "mountinfo", Usage: "read the mounts from `FILE`, a copy of /proc/self/mountinfo (default inside WSL)"},
	}
}

// pathsTranslator is this machine's translator, or the one that the flags describe.
func pathsTranslator(c *cli.Context) (pathxlate.Translator, error) {
	t := localTranslator()
	t.MSYS = c.Bool("msys")
	if c.IsSet("distro") {
		t.Distro = c.String("distro")
	}
	switch {
	case c.IsSet("automount-root") && c.IsSet("mountinfo"):
		return t, errors.New("give only one of --automount-root and --mountinfo")
	case c.IsSet("automount-root"):
		t.Mounts = pathxlate.AutomountRoot(c.String("automount-root"))
	case c.IsSet("mountinfo"):
		text, err := os.ReadFile(c.String("mountinfo"))
		if err != nil {
			return t, err
		}
		t.Mounts = pathxlate.ParseMountInfo(string(text), nil)
	}
	return t, nil
}

// translatePaths hands each path to translate, which writes its line and reports
// whether the path could be translated. "-" stands for the lines of r. When a path
// could not, the error has exit code 1 and no text: the line has said it.
func translatePaths(r io.Reader, w io.Writer, paths []string, translate func(io.Writer, string) (bool, error)) error {
	failed := false
	one := func(path string) error {
		ok, err := translate(w, path)
		failed = failed || !ok
		return err
	}
	for _, path := range paths {
		each := func() error { return one(path) }
		if path == "-" {
			each = func() error { return eachLine(r, one) }
		}
		if err := each(); err != nil {
			return err
		}
	}
	if failed {
		return cli.Exit("", 1)
	}
	return nil
}

// eachLine calls use with each line of r, without its line end, be it of Windows or
// of Linux.
func eachLine(r io.Reader, use func(string) error) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if err := use(line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read paths from stdin: %w", err)
		}
	}
}

func writeTextLine(w io.Writer, e pathxlate.Explanation) error {
	line := "ok\t" + e.Result
	if e.Err != nil {
		line = "error\t" + pathxlate.ErrName(e.Err) + "\t" + e.Err.Error()
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

func writeJSONLine(w io.Writer, e pathxlate.Explanation) error {
	line := struct {
		Input   string `json:"input"`
		Form    string `json:"form"`
		Rule    string `json:"rule,omitempty"`
		Result  string `json:"result,omitempty"`
		Caveat  string `json:"caveat,omitempty"`
		Error   string `json:"error,omitempty"`
		Message string `json:"message,omitempty"`
	}{Input: e.Input, Form: e.Form.String(), Rule: string(e.Rule), Result: e.Result, Caveat: e.Caveat}
	if e.Err != nil {
		line.Error, line.Message = pathxlate.ErrName(e.Err), e.Err.Error()
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(line)
}
