package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// pathsFrameCommand shows what the bridge does with a frame of the protocol.
func pathsFrameCommand() *cli.Command {
	return &cli.Command{
		Name:  "frame",
		Usage: "show what the bridge does with the paths of a JSON-RPC message on stdin",
		Description: `Prints one line for each field of the message that may hold a path: its JSON pointer,
the rule, and ok and what arrives, or kept, the name of the error and the reason, or
error likewise when the bridge refuses the message; all parted by tabs. Messages before
it, such as the session/new that names the folders, are taken into account. Exits with
1 when a message was refused.`,
		Flags: machineFlags(),
		Action: func(c *cli.Context) error {
			t, err := pathsTranslator(c)
			if err != nil {
				return fmt.Errorf("paths frame: %w", err)
			}
			rewriter := wslbridge.NewRewriter(wslbridge.RewriteConfig{
				Distro: t.Distro,
				Mounts: func() pathxlate.MountTable { return t.Mounts },
				LookPath: func(name string) (string, bool) {
					found, err := exec.LookPath(name)
					return found, err == nil
				},
			})
			return explainFrames(c.App.Reader, c.App.Writer, rewriter)
		},
	}
}

// explainFrames writes a line for each field of the JSON values that r has. When
// one was refused, the error has exit code 1 and no text: the line has said it.
func explainFrames(r io.Reader, w io.Writer, rewriter *wslbridge.Rewriter) error {
	refused := false
	for frames := json.NewDecoder(r); ; {
		var frame json.RawMessage
		switch err := frames.Decode(&frame); {
		case errors.Is(err, io.EOF) && refused:
			return cli.Exit("", 1)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("paths frame: read a JSON-RPC message from stdin: %w", err)
		}
		fields, err := rewriter.Explain(frame)
		if err != nil {
			return fmt.Errorf("paths frame: %w", err)
		}
		for _, f := range fields {
			refused = refused || f.Refused
			if _, err := fmt.Fprintln(w, fieldLine(f)); err != nil {
				return err
			}
		}
	}
}

func fieldLine(f wslbridge.FieldReport) string {
	outcome := "ok\t" + f.Result
	switch {
	case f.Refused:
		outcome = "error\t" + pathxlate.ErrName(f.Err) + "\t" + f.Err.Error()
	case f.Err != nil:
		outcome = "kept\t" + pathxlate.ErrName(f.Err) + "\t" + f.Err.Error()
	}
	return f.Pointer + "\t" + f.Rule + "\t" + outcome
}
