// Package testdata holds the fixtures that tests on both sides of the path
// boundary share.
package testdata

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

//go:embed paths
var files embed.FS

// PathCase is one row of paths/*.tsv: what a translation makes of an input.
//
// In the files <U+XXXX> stands for that character; quoted.tsv has its inputs and
// results as Go strings instead. Options are parted by "; " and are "msys",
// "drive X=TARGET" and "root SPELLING".
type PathCase struct {
	ID     string
	Op     string // a pathxlate.Op, or "outbound", "outbound-uri", "dir-key"
	Distro string
	// Mounts is "lex:" and an automount root, "conf:" and a line of the [automount]
	// section of wsl.conf, "text:" and a line of mountinfo, or a NAME of
	// paths/mountinfo/NAME.txt.
	Mounts string
	MSYS   bool
	Drives map[byte]string // targets of drives that only Windows has
	Roots  []string        // as the client spelled them, oldest first
	Input  string
	Want   string // "" where Err is set
	Err    string // name of the error, as pathxlate.ErrName gives it
	Why    string
}

// PathCases returns the rows with one of these ops, or all rows.
func PathCases(tb testing.TB, ops ...string) []PathCase {
	tb.Helper()
	names, err := fs.Glob(files, "paths/*.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []PathCase
	for _, name := range names {
		unescape := replaceCodePoints
		if name == "paths/quoted.tsv" {
			unescape = strconv.Unquote
		}
		_, rows, _ := strings.Cut(read(tb, name), "\n")
		for row := range strings.Lines(rows) {
			c, err := parsePathCase(strings.TrimSuffix(row, "\n"), unescape)
			if err != nil {
				tb.Fatalf("%s: %v: %q", name, err, row)
			}
			if len(ops) == 0 || slices.Contains(ops, c.Op) {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

func parsePathCase(row string, unescape func(string) (string, error)) (PathCase, error) {
	fields := strings.Split(row, "\t")
	if len(fields) != 9 {
		return PathCase{}, fmt.Errorf("the row has %d columns, want 9", len(fields))
	}
	c := PathCase{
		ID: fields[0], Op: fields[1], Distro: fields[2], Mounts: fields[3],
		Err: fields[7], Why: fields[8],
	}
	for option := range strings.SplitSeq(fields[4], "; ") {
		switch kind, value, _ := strings.Cut(option, " "); kind {
		case "":
		case "msys":
			c.MSYS = true
		case "drive":
			if c.Drives == nil {
				c.Drives = make(map[byte]string)
			}
			c.Drives[value[0]] = value[len("X="):]
		case "root":
			c.Roots = append(c.Roots, value)
		default:
			return PathCase{}, fmt.Errorf("no such option: %q", option)
		}
	}
	var err error
	if c.Input, err = unescape(fields[5]); err != nil {
		return PathCase{}, fmt.Errorf("input: %w", err)
	}
	if c.Want, err = unescape(fields[6]); err != nil {
		return PathCase{}, fmt.Errorf("want: %w", err)
	}
	if (c.Want == "") == (c.Err == "") {
		return PathCase{}, fmt.Errorf("one of want and error has to be set, not both")
	}
	return c, nil
}

// MountInfo returns the text of mountinfo that c.Mounts names, and whether it
// names one.
func (c PathCase) MountInfo(tb testing.TB) (string, bool) {
	tb.Helper()
	if line, ok := strings.CutPrefix(c.Mounts, "text:"); ok {
		return line + "\n", true
	}
	if strings.Contains(c.Mounts, ":") {
		return "", false
	}
	return read(tb, "paths/mountinfo/"+c.Mounts+".txt"), true
}

// Translator returns the translator of the system that the row describes.
func (c PathCase) Translator(tb testing.TB) pathxlate.Translator {
	tb.Helper()
	t := pathxlate.Translator{Distro: c.Distro, MSYS: c.MSYS}
	if text, ok := c.MountInfo(tb); ok {
		t.Mounts = pathxlate.ParseMountInfo(text, nil)
	} else if root, ok := strings.CutPrefix(c.Mounts, "lex:"); ok {
		t.Mounts = pathxlate.AutomountRoot(root)
	} else {
		t.Mounts = pathxlate.ParseWSLConf("[automount]\n" + strings.TrimPrefix(c.Mounts, "conf:") + "\n")
	}
	for letter, target := range c.Drives {
		t.Mounts = t.Mounts.WithDrive(letter, target)
	}
	return t
}

func read(tb testing.TB, name string) string {
	tb.Helper()
	text, err := files.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// replaceCodePoints puts the character in for each <U+XXXX>.
func replaceCodePoints(s string) (string, error) {
	var plain strings.Builder
	for {
		before, after, ok := strings.Cut(s, "<U+")
		plain.WriteString(before)
		if !ok {
			return plain.String(), nil
		}
		hex, rest, _ := strings.Cut(after, ">")
		code, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			return "", err
		}
		plain.WriteRune(rune(code))
		s = rest
	}
}
