package wslbridge

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzGate splits a child's output at any point: what comes of it is the same as in one piece.
func FuzzGate(f *testing.F) {
	hello := string(encodeLine(Hello{Bridge: WireVersion, Version: "1", Distro: "Ubuntu", Home: "/home/u"}))
	f.Add([]byte("Welcome\n\x1b[0m"+hello+"{\"id\":1}\n"), 9)
	f.Add([]byte(bootstrapSend+"\n"+hello), 3)
	f.Add([]byte(bootstrapFailed+"space\n"), 12)
	f.Add([]byte(utf16le("Größe\r\n")+hello), 5)
	f.Add([]byte(helloMarker+"2}\n"), 1)
	f.Fuzz(func(t *testing.T, output []byte, at int) {
		if at < 0 || at > len(output) {
			t.Skip()
		}
		whole := playGate(output)
		if parts := playGate(output[:at], output[at:]); parts != whole {
			t.Errorf("in pieces %+v, whole %+v", parts, whole)
		}
		if whole.opened && !strings.HasSuffix(string(output), whole.rest) {
			t.Errorf("%q does not end in %q", output, whole.rest)
		}
	})
}

type gatePlay struct {
	opened bool
	failed string
	rest   string
	noise  string
	sends  int
}

func playGate(pieces ...[]byte) gatePlay {
	var play gatePlay
	var noise strings.Builder
	g := &gate{noise: &noise, send: func() error { play.sends++; return nil }, failed: func(word string) error { return errors.New(word) }}
	var rest bytes.Buffer
	for _, piece := range pieces {
		if play.opened || play.failed != "" {
			_, _ = io.Copy(&rest, bytes.NewReader(piece))
			continue
		}
		hello, after, err := g.feed(piece)
		switch {
		case err != nil:
			play.failed = err.Error()
			rest.Reset()
		case hello != nil:
			play.opened = true
			rest.Write(after)
		}
	}
	if !play.opened && play.failed == "" {
		g.end()
	}
	if play.failed == "" {
		play.rest, play.noise = rest.String(), noise.String()
	}
	return play
}
