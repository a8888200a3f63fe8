package wslbridge

import (
	"errors"
	"fmt"
	"io"
)

// editorInput reads the editor's stdin: frame by frame during the opening, then as a stream of bytes.
type editorInput struct {
	frames chan []byte
	stream chan io.Writer // where the bytes go once the opening is over
	closed chan struct{}  // the editor has closed its end
	stop   chan struct{}  // nobody wants its input any more
}

func readEditor(stdin io.Reader, refuse func(reply []byte)) *editorInput {
	e := &editorInput{
		frames: make(chan []byte),
		stream: make(chan io.Writer, 1),
		closed: make(chan struct{}),
		stop:   make(chan struct{}),
	}
	go e.run(newFrameReader(stdin, DefaultMaxFrame), refuse)
	return e
}

func (e *editorInput) run(frames *frameReader, refuse func([]byte)) {
	for {
		frame, err := frames.next()
		if errors.Is(err, errFrameTooLong) {
			refuse(tooLongReply(DefaultMaxFrame))
			continue
		}
		if err != nil {
			close(e.closed)
			return
		}
		select {
		case e.frames <- append([]byte(nil), frame...):
		case <-e.stop:
			return
		case child := <-e.stream:
			e.copyTo(child, frame, frames.r)
			return
		}
	}
}

// copyTo moves the rest of the input. When the child takes no more, its end is noticed elsewhere.
func (e *editorInput) copyTo(child io.Writer, first []byte, rest io.Reader) {
	if _, err := child.Write(append(first, '\n')); err != nil {
		return
	}
	buf := make([]byte, pumpBufferBytes)
	for {
		n, err := rest.Read(buf)
		if n > 0 {
			if _, err := child.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			close(e.closed)
			return
		}
	}
}

func tooLongReply(maxFrame int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is longer than %d bytes"}}`, maxFrame)
}
