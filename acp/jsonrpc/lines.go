package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLineTooLong = errors.New("line too long")

// lineReader splits a stream into lines of bounded length.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, maxBytes int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxBytes}
}

// next returns the next line that is not blank, trimmed of white space and a
// byte order mark, in memory of its own. It returns errLineTooLong for a line
// over the limit, which it has then skipped, and the reader's error at the end;
// a last line without a newline counts.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.readLine()
		if err != nil && (errors.Is(err, errLineTooLong) || len(line) == 0) {
			return nil, err
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")))
		if len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lineReader) readLine() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		chunk, err := l.r.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(chunk, "\r\n")) > l.max {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong {
			return nil, errLineTooLong
		}
		return line, err
	}
}
