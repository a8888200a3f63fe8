package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// health is the result of a check.
type health string

const (
	healthOK   health = "ok"
	healthWarn health = "warn" // it works, but not as it should
	healthFail health = "fail" // something does not work
)

// finding is what one check of doctor found.
type finding struct {
	Name   string `json:"name"`
	Status health `json:"status"`
	Detail string `json:"detail"`
	// Remedy is what to do, with the exact command and the window to type it in;
	// empty when all is well.
	Remedy string `json:"remedy,omitempty"`
}

func fine(name, detail string) finding {
	return finding{Name: name, Status: healthOK, Detail: detail}
}

func warning(name, detail, remedy string) finding {
	return finding{Name: name, Status: healthWarn, Detail: detail, Remedy: remedy}
}

func failure(name, detail, remedy string) finding {
	return finding{Name: name, Status: healthFail, Detail: detail, Remedy: remedy}
}

// failureOf reports an error. Ours say what to do behind a semicolon; otherwise
// stands for the remedy of those that do not.
func failureOf(name string, err error, otherwise string) finding {
	detail, remedy, found := strings.Cut(err.Error(), "; ")
	if !found {
		remedy = otherwise
	}
	return failure(name, detail, remedy)
}

const doctorUsage = "check everything that can be wrong, each with its remedy"

func doctorFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print an array of {name, status, detail, remedy}; status is ok, warn or fail"},
		&cli.BoolFlag{Name: "offline", Usage: "do not ask the provider whether it answers"},
		&cli.StringFlag{Name: "cwd", Usage: "the project `FOLDER` to look at", Value: "."},
	}
}

// report shows findings, each as it comes, or all at the end as JSON.
type report struct {
	out      io.Writer
	paint    paint
	json     bool
	findings []finding
}

func newReport(c *cli.Context) *report {
	return &report{out: c.App.Writer, paint: paintFor(c.App.Writer), json: c.Bool("json"), findings: []finding{}}
}

func (r *report) add(findings ...finding) {
	r.findings = append(r.findings, findings...)
	if r.json {
		return
	}
	for _, f := range findings {
		r.show(f)
	}
}

func (r *report) show(f finding) {
	mark := r.paint.green("ok  ")
	switch f.Status {
	case healthOK:
	case healthWarn:
		mark = r.paint.yellow("warn")
	case healthFail:
		mark = r.paint.red("FAIL")
	}
	fmt.Fprintf(r.out, "%s  %-14s  %s\n", mark, f.Name, oneLine(f.Detail))
	if f.Remedy != "" {
		fmt.Fprintf(r.out, "  -> %s\n", oneLine(f.Remedy))
	}
}

// end completes the report. The exit code is 1 when something does not work.
func (r *report) end() error {
	if r.json {
		encoder := json.NewEncoder(r.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(r.findings); err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
	}
	if r.failed() {
		return cli.Exit("", 1)
	}
	return nil
}

// failed reports whether something does not work.
func (r *report) failed() bool {
	return slices.ContainsFunc(r.findings, func(f finding) bool { return f.Status == healthFail })
}

// shellWord is a word as a person types it in a shell of Linux.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,=", r)
	}
	if word != "" && strings.TrimLeftFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
