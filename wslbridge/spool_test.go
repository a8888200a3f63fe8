package wslbridge

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestSpoolKeepsOrderAndBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(8, false)
		written := make(chan error, 1)
		go func() {
			_, err := s.Write([]byte("0123456789abcdef"))
			s.end()
			written <- err
		}()
		synctest.Wait()
		if got := len(s.pending); got != 8 {
			t.Errorf("%d bytes are queued", got)
		}
		var out strings.Builder
		if err := s.drainTo(&out, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-written; err != nil || out.String() != "0123456789abcdef" {
			t.Errorf("got %q, %v", out.String(), err)
		}
	})
}

func TestLossySpoolNeverBlocks(t *testing.T) {
	s := newSpool(4, true)
	for range 3 {
		if n, err := s.Write([]byte("abc")); n != 3 || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if got := s.lostBytes(); got != 5 {
		t.Errorf("%d bytes lost, want 5", got)
	}
	s.end()
	if got, _ := io.ReadAll(&spoolReader{s: s}); string(got) != "abca" {
		t.Errorf("kept %q", got)
	}
}

func TestSpoolWriterLearnsThatTheReaderIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(1, false)
		written := make(chan error, 1)
		go func() {
			_, err := s.Write([]byte("abc"))
			written <- err
		}()
		synctest.Wait()
		broken := errors.New("broken")
		if err := s.drainTo(failingWriter{broken}, nil); !errors.Is(err, broken) {
			t.Errorf("drain = %v", err)
		}
		if err := <-written; !errors.Is(err, broken) {
			t.Errorf("write = %v", err)
		}
	})
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

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
			frames := newFrameReader(iotestOneByte{strings.NewReader(tc.in)}, tc.max)
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

// iotestOneByte reads in small, odd pieces.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 4093)]) }

func newTestStage(in string, out io.Writer, maxFrame int) *Stage {
	return NewStage(NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: readMounts}), strings.NewReader(in), out, maxFrame, discardLog())
}

func TestStageAnswersLinesOverTheCap(t *testing.T) {
	var out bytes.Buffer
	stage := newTestStage(`{"method":"a"}`+"\n"+strings.Repeat("x", 200)+"\n"+`{"method":"b"}`+"\n", &out, 100)
	in, err := io.ReadAll(stage)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"method":"a"}` + "\n" + `{"method":"b"}` + "\n"; string(in) != want {
		t.Errorf("the agent read %q", in)
	}
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is longer than 100 bytes"}}` + "\n"; out.String() != want {
		t.Errorf("the client got %q", out.String())
	}
}

func TestStagePassesWholeFramesOutbound(t *testing.T) {
	var out bytes.Buffer
	stage := newTestStage("", &out, 100)
	for _, piece := range []string{`{"a"`, `:1}`, "\n", `{"b":2}` + "\r\n\n" + `{"c":`, "3}\n", strings.Repeat("y", 99), "yyyy", "yy\n{\"d\":4}\n", `{"e":5}`} {
		if _, err := stage.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stage.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n{\"d\":4}\n{\"e\":5}\n"; out.String() != want {
		t.Errorf("the client got %q, want %q", out.String(), want)
	}
}
