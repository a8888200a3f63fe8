package wslbridge

import (
	"bytes"
	"errors"
	"io"
)

// maxNoiseBytes is how much noise is kept to explain a failure, and how much may stand in front of
// hello without a line end.
const maxNoiseBytes = 64 << 10

// errBootstrap marks an error that the bootstrap reported.
var errBootstrap = errors.New("provisioning failed")

// gate reads a child's output up to hello. Everything that is neither hello nor a word of the
// bootstrap is noise: messages of wsl.exe, banners of a login shell.
type gate struct {
	noise  io.Writer    // gets noise as it came
	send   func() error // sends the binary
	failed func(word string) error

	buf []byte
}

// feed takes the next bytes. When hello is complete it returns what follows it.
func (g *gate) feed(p []byte) (hello *Hello, rest []byte, err error) {
	g.buf = append(g.buf, p...)
	for {
		lineEnd := bytes.IndexByte(g.buf, '\n')
		if lineEnd < 0 {
			if len(g.buf) > maxNoiseBytes {
				g.pass(len(g.buf) - len(helloMarker))
			}
			return nil, nil, nil
		}
		line := g.buf[:lineEnd]
		if bytes.IndexByte(line, 0) >= 0 { // UTF-16: the line end has a second byte
			if lineEnd++; lineEnd == len(g.buf) {
				return nil, nil, nil
			}
		}
		if start := bytes.Index(line, []byte(helloMarker)); start >= 0 {
			h, err := parseHello(line[start:])
			rest := g.buf[lineEnd+1:]
			_, _ = g.noise.Write(line[:start])
			return &h, rest, err
		}
		if _, word, ok := bytes.Cut(line, []byte(bootstrapFailed)); ok {
			return nil, nil, g.failed(string(bytes.TrimSpace(word)))
		}
		if bytes.Contains(line, []byte(bootstrapSend)) {
			g.buf = g.buf[lineEnd+1:]
			if err := g.send(); err != nil {
				return nil, nil, err
			}
			continue
		}
		g.pass(lineEnd + 1)
	}
}

func (g *gate) pass(n int) {
	_, _ = g.noise.Write(g.buf[:n]) // noise that cannot be shown is lost
	g.buf = g.buf[n:]
}

// end passes on what came without a line end.
func (g *gate) end() { g.pass(len(g.buf)) }
