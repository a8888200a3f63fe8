package wslbridge

import (
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
