package tools

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCaptureSince(t *testing.T) {
	var c capture
	step := func(add, want string) {
		t.Helper()
		before := c.total
		_, _ = c.Write([]byte(add))
		if got, _ := c.since(before); got != want {
			t.Errorf("%.60q, want %.60q", got, want)
		}
	}
	step("abc", "abc")
	step("", "")
	step("def", "def")
	head := strings.Repeat("h", captureHead)
	step(head, head)
	tail := strings.Repeat("t", captureTail)
	step(tail, tail)
	step("end", "end")
	if got, total := c.since(0); !strings.HasPrefix(got, "abcdef") || !strings.HasSuffix(got, "end") || total != int64(captureHead+captureTail+9) {
		t.Errorf("%d bytes of %d", len(got), total)
	}
}

// Whatever is written in whatever pieces, the text is valid, bounded, and holds
// everything when it is short enough.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("hello\x1b[31m\r\nworld"), 3, 1)
	f.Add([]byte("é€\xff"), 1, 20_000)
	f.Fuzz(func(t *testing.T, piece []byte, size, repeat int) {
		repeat = min(max(repeat, 1), 200_000/max(len(piece), 1)+1)
		size = max(size, 1)
		data := []byte(strings.Repeat(string(piece), repeat))
		var c capture
		polled := int64(0)
		for rest := data; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = c.Write(rest[:n])
			rest = rest[n:]
			if size > 1000 {
				var text string
				if text, polled = c.since(polled); !utf8.ValidString(text) {
					t.Fatalf("since: invalid UTF-8 %q", text)
				}
			}
		}
		text := c.text()
		if !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
			t.Errorf("not printable: %.80q", text)
		}
		if len(text) > 3*(captureHead+captureTail)+100 { // a byte may become three
			t.Errorf("%d bytes", len(text))
		}
		if len(data) <= captureHead && text != printable(string(data)) {
			t.Errorf("%.80q became %.80q", data, text)
		}
	})
}
