package wslbridge

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrameReader(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, tc := range map[string]struct {
		in   string
		max  int
		want []string
	}{
		"lines":                 {"a\nb\n", 10, []string{"a", "b"}},
		"CRLF and blank lines":  {"\n\r\na\r\n \t\n\nb", 10, []string{"a", "b"}},
		"end of file in a line": {"a\n{\"x", 10, []string{"a", `{"x`}},
		"longer than a buffer":  {long + "\nb\n", 1 << 20, []string{long, "b"}},
		"too long":              {"a\n" + long + "\nb\n", 90 << 10, []string{"a", "too long", "b"}},
		"too long, short cap":   {"aaaa\nbb\n", 3, []string{"too long", "bb"}},
		"too long at the end":   {"a\n" + long, 90 << 10, []string{"a", "too long"}},
	} {
		t.Run(name, func(t *testing.T) {
			frames := newFrameReader(oddPieces{strings.NewReader(tc.in)}, tc.max)
			var got []string
			for {
				frame, err := frames.next()
				if errors.Is(err, errFrameTooLong) {
					got = append(got, "too long")
					continue
				}
				if err != nil {
					break
				}
				got = append(got, string(frame))
			}
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("got %.100q, want %.100q", got, tc.want)
			}
		})
	}
}

// oddPieces reads in pieces that no frame or buffer fits.
type oddPieces struct{ from io.Reader }

func (r oddPieces) Read(p []byte) (int, error) { return r.from.Read(p[:min(len(p), 4093)]) }
