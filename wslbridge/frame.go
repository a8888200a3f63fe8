package wslbridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// DefaultMaxFrame is the longest line, in bytes, that passes the rewrite stage.
const DefaultMaxFrame = 64 << 20

const frameBufferBytes = 64 << 10

// errFrameTooLong is returned once for a line over the cap; the next read goes on after it.
var errFrameTooLong = errors.New("frame too long")

// frameReader splits a stream into frames: lines without their line end, blank ones left out.
type frameReader struct {
	r    *bufio.Reader
	max  int
	long []byte // a frame that does not fit the reader's buffer
}

func newFrameReader(r io.Reader, maxFrame int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, frameBufferBytes), max: maxFrame}
}

// next returns a frame that is valid until the next call. A last line without a line end is a frame
// too, so that the agent can answer it with a parse error.
func (f *frameReader) next() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (f *frameReader) line() ([]byte, error) {
	piece, err := f.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if len(piece) > f.max {
			return nil, errFrameTooLong
		}
		return piece, err
	}
	if cap(f.long) > maxSpareBytes {
		f.long = nil
	}
	f.long = append(f.long[:0], piece...)
	for errors.Is(err, bufio.ErrBufferFull) {
		piece, err = f.r.ReadSlice('\n')
		if len(f.long)+len(piece) > f.max {
			return nil, f.skipLine(err)
		}
		f.long = append(f.long, piece...)
	}
	return f.long, err
}

func (f *frameReader) skipLine(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = f.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return errFrameTooLong
}
