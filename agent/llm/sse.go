package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent bounds one event, in bytes.
const maxEvent = 32 << 20

var errEventTooLarge = errors.New("one event of the answer is larger than 32 MiB")

// event is one server-sent event. Its data is valid until the next one is read.
type event struct {
	name string
	data []byte
}

// eventReader reads the events of a model's answer. It passes over what
// providers send to keep a connection open: comments, empty data lines, and
// comments inside a data line.
//
// Most providers put one whole JSON value on one data line and some forget the
// blank line after it, so a whole value is an event at once. Data that is not
// yet whole is joined with the lines after it until a blank line, as
// https://html.spec.whatwg.org/multipage/server-sent-events.html has it.
type eventReader struct {
	r       *bufio.Reader
	name    string
	pending []byte
	long    []byte
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10)}
}

// firstByte waits for the first byte of the stream that is not white space and
// returns it unread; 0 when there is none.
func (e *eventReader) firstByte() byte {
	for {
		b, err := e.r.Peek(1)
		if err != nil {
			return 0
		}
		if !bytes.Contains([]byte(" \t\r\n\ufeff"), b) {
			return b[0]
		}
		_, _ = e.r.Discard(1) // was just peeked
	}
}

// next returns io.EOF at the end of the stream and io.ErrUnexpectedEOF when it
// ended inside an event.
func (e *eventReader) next() (event, error) {
	e.pending = e.pending[:0]
	for {
		line, err := e.line()
		if err != nil && len(line) == 0 {
			if len(e.pending) == 0 {
				return event{}, err
			}
			if !errors.Is(err, io.EOF) {
				return event{}, err
			}
			if e.name == "error" {
				return event{e.name, e.pending}, nil
			}
			return event{}, io.ErrUnexpectedEOF
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			name := e.name
			e.name = ""
			if len(e.pending) > 0 {
				return event{name, e.pending}, nil
			}
			continue
		}
		data := e.field(line)
		if len(data) == 0 || data[0] == ':' {
			continue
		}
		if len(e.pending) == 0 && whole(data) {
			return event{e.name, data}, nil
		}
		if len(e.pending)+len(data) > maxEvent {
			return event{}, errEventTooLarge
		}
		if len(e.pending) > 0 {
			e.pending = append(e.pending, '\n')
		}
		e.pending = append(e.pending, data...)
		if whole(e.pending) {
			return event{e.name, e.pending}, nil
		}
	}
}

// field returns the data on a line and notes the name of the event. A bare JSON
// object counts as data: some proxies write their errors so.
func (e *eventReader) field(line []byte) []byte {
	if line[0] == '{' {
		return line
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "data":
		return value
	case "event":
		e.name = string(value)
	}
	return nil
}

// line returns the next line, which may lack its end when the stream was cut.
func (e *eventReader) line() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	e.long = append(e.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(e.long) > maxEvent {
			return nil, errEventTooLarge
		}
		line, err = e.r.ReadSlice('\n')
		e.long = append(e.long, line...)
	}
	return e.long, err
}

// whole reports whether data needs no further line.
func whole(data []byte) bool {
	return isDone(data) || json.Valid(data)
}

func isDone(data []byte) bool { return string(data) == "[DONE]" }
