package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// NewTrace returns a recorder for Config.Trace. It writes one JSON object a
// frame: the time, the direction ("in" from the client), and the frame with its
// texts left out. What is left is what bugs are found with: methods, ids, types
// and states, paths and URIs; of every other string only the length.
func NewTrace(w io.Writer, now func() time.Time) func(jsonrpc.Direction, []byte) {
	var mu sync.Mutex
	return func(dir jsonrpc.Direction, frame []byte) {
		elided, err := elide(frame)
		if err != nil {
			elided = fmt.Appendf(nil, `"%d bytes that are not JSON"`, len(frame))
		}
		mu.Lock()
		defer mu.Unlock()
		// A trace that cannot be written is no reason to stop serving.
		_, _ = fmt.Fprintf(w, `{"time":%q,"dir":%q,"frame":%s}`+"\n", now().UTC().Format(time.RFC3339Nano), dir, elided)
	}
}

// isTraced reports whether the strings of a field carry no text of a person, a
// model or a file, and no secret.
func isTraced(key string) bool {
	switch key {
	case "jsonrpc", "id", "method", "sessionId", "requestId", "messageId", "toolCallId", "terminalId", "terminal_id",
		"compactionId", "sessionUpdate", "type", "kind", "status", "stopReason", "outcome", "optionId", "mimeType",
		"modeId", "currentModeId", "modelId", "currentModelId", "configId", "currentValue", "methodId", "category", "severity", "version",
		"cwd", "path", "uri", "additionalDirectories", "cursor", "nextCursor", "updatedAt":
		return true
	}
	return false
}

// elide copies a JSON text, in its own order, with the untraced strings replaced
// by their lengths.
func elide(frame []byte) ([]byte, error) {
	e := elider{in: json.NewDecoder(bytes.NewReader(frame))}
	e.in.UseNumber()
	if err := e.value(""); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

type elider struct {
	in  *json.Decoder
	out bytes.Buffer
}

// value copies the next value; key is the field that it belongs to.
func (e *elider) value(key string) error {
	token, err := e.in.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return e.members(t, key)
	case string:
		if !isTraced(key) {
			t = strconv.Itoa(utf8.RuneCountInString(t)) + " characters"
		}
		return e.scalar(t)
	default:
		return e.scalar(t)
	}
}

// members copies what is inside an object or an array.
func (e *elider) members(open json.Delim, key string) error {
	e.out.WriteByte(byte(open))
	for first := true; e.in.More(); first = false {
		if !first {
			e.out.WriteByte(',')
		}
		if open == '{' {
			name, err := e.in.Token()
			if err != nil {
				return err
			}
			key, _ = name.(string)
			if err := e.scalar(key); err != nil {
				return err
			}
			e.out.WriteByte(':')
		}
		if err := e.value(key); err != nil {
			return err
		}
	}
	_, err := e.in.Token() // the closing one
	e.out.WriteByte(byte(open) + 2)
	return err
}

func (e *elider) scalar(v any) error {
	text, err := json.Marshal(v)
	e.out.Write(text)
	return err
}
