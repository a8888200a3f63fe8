package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestReadFileNumbersLines(t *testing.T) {
	for _, tc := range []struct {
		name, content string
		args          args
		want          string
	}{
		{"whole", "one\ntwo\n", args{}, "1|one\n2|two\n"},
		{"a range", "a\nb\nc\nd\n", args{"offset": 2, "limit": 2}, "2|b\n3|c\n[2 of 4 lines; continue with offset 4]\n"},
		{"past the end", "a\n", args{"offset": 5}, "[the file has only 1 lines]\n"},
		{"empty", "", args{}, "[the file is empty]\n"},
		{"blank lines", "\n\n", args{}, "1|\n2|\n"},
		{"no final newline", "a\nb", args{}, "[no newline at the end]\n1|a\n2|b\n"},
		{"CRLF", "a\r\nb\r\n", args{}, "[CRLF line ends]\n1|a\n2|b\n"},
		{"mixed line ends", "a\r\nb\n", args{}, "[mixed line ends]\n1|a\n2|b\n"},
		{"byte-order mark", "\xef\xbb\xbfa\n", args{}, "[UTF-8 with byte-order mark]\n1|a\n"},
		{"UTF-16", "\xff\xfea\x00\n\x00", args{}, "[UTF-16LE with byte-order mark]\n1|a\n"},
		{"UTF-16 big endian", "\xfe\xff\x20\xac\x00\n", args{}, "[UTF-16BE with byte-order mark]\n1|€\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.content)
			tc.args["path"] = "f"
			got, err := b.call(t, "read_file", tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Bytes that are not UTF-8 made invalid JSON and hung a client
// (DeusData/codebase-memory-mcp#511).
func TestP34_BytesThatAreNotUTF8BecomeValidText(t *testing.T) {
	for _, content := range []string{"\xb0\xa1\n", "caf\xe9\n"} {
		b := newWorkbench(t)
		b.write(t, "f", content)
		got, err := b.call(t, "read_file", args{"path": "f"})
		if err != nil || !utf8.ValidString(got.Text) || !strings.Contains(got.Text, "not UTF-8") {
			t.Errorf("%q: %q, error %v", content, got.Text, err)
		}
		if b.read(t, "f") != content {
			t.Errorf("%q: reading changed the file", content)
		}
	}
}

func TestReadFileRefuses(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "big", strings.Repeat("x\n", 1<<20+1))
	b.write(t, "binary", "a\x00b")
	b.write(t, "dir/f", "")
	for _, tc := range []struct{ path, want string }{
		{"missing", "no such file"},
		{"dir", "is a directory"},
		{"dir/f/x", "not a directory"},
		{"big", "offset and limit"},
		{"binary", "binary file"},
		{"a\x00b", "NUL"},
		{"", "path is required"},
	} {
		if _, err := b.call(t, "read_file", args{"path": tc.path}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want one with %q", tc.path, err, tc.want)
		}
	}
	got, err := b.call(t, "read_file", args{"path": "big", "offset": 1_000_000, "limit": 1})
	if err != nil || !strings.HasPrefix(got.Text, "1000000|x\n") {
		t.Errorf("a range of a big file: %q, error %v", got.Text, err)
	}
}

func TestReadFileCutsLongLinesAndMuchText(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "wide", strings.Repeat("é", 5000))
	got, err := b.call(t, "read_file", args{"path": "wide"})
	if err != nil || len(got.Text) > 2200 || !utf8.ValidString(got.Text) || !strings.Contains(got.Text, "line cut, 10000 bytes") {
		t.Errorf("%d bytes, error %v", len(got.Text), err)
	}
	b.write(t, "much", strings.Repeat(strings.Repeat("x", 999)+"\n", 400))
	got, err = b.call(t, "read_file", args{"path": "much"})
	if err != nil || len(got.Text) > maxReadChars+200 || !strings.Contains(got.Text, "continue with offset") {
		t.Errorf("%d bytes, error %v", len(got.Text), err)
	}
}

func TestReadFileShowsImages(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "p.png", "\x89PNG\r\n\x1a\n\x00\x00")
	got, err := b.call(t, "read_file", args{"path": "p.png"})
	if err != nil || len(got.Images) != 1 || !strings.HasPrefix(got.Images[0], "data:image/png;base64,iVBOR") {
		t.Errorf("%+v, error %v", got, err)
	}
}

// The target is asked about beside the path, and what was asked about is what
// is read.
func TestReadFileNamesItsTarget(t *testing.T) {
	b := newWorkbench(t)
	secret := b.write(t, "secret", "s")
	other := b.write(t, "other", "o")
	if err := os.Symlink(secret, b.path("link")); err != nil {
		t.Skip("symbolic links are not available:", err)
	}
	plan, err := b.plan(t, "read_file", args{"path": "link"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{b.path("link"), secret}, plan.Access.Reads); diff != "" {
		t.Errorf("reads (-want +got)\n%s", diff)
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, secret); err != nil {
		t.Fatal(err)
	}
	if got, err := plan.Run(t.Context(), nil); err == nil {
		t.Errorf("a link that took the target's place was followed: %q", got.Text)
	}
	if filepath.Base(plan.Locations[0].Path) != "link" {
		t.Errorf("location %v", plan.Locations)
	}
}
