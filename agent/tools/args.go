package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// decodeArgs decodes a call's arguments into the struct that args points to.
// Models write them in several shapes, so an object inside a JSON string is
// taken as the object, and nothing as an empty object; a field that the tool
// does not have is an error.
func decodeArgs(raw json.RawMessage, args any) error {
	text := bytes.TrimSpace(raw)
	if len(text) > 0 && text[0] == '"' {
		var inner string
		if err := json.Unmarshal(text, &inner); err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		text = bytes.TrimSpace([]byte(inner))
	}
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	if text[0] != '{' {
		return errors.New("arguments: a JSON object is needed")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(args)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("arguments: %s is a JSON %s, a %s is needed", wrong.Field, wrong.Value, wrong.Type.Kind())
	}
	if err != nil {
		return fmt.Errorf("arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("arguments: more than one JSON value")
	}
	return nil
}

// number is an integer argument, also written as a string or with a fraction of
// zero.
type number int

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	word := strings.Trim(string(text), `" `)
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f != float64(int(f)) {
		return fmt.Errorf("%s is not a whole number", text)
	}
	*n = number(f)
	return nil
}

// flag is a boolean argument, also written as a string.
type flag bool

func (f *flag) UnmarshalJSON(text []byte) error {
	switch strings.ToLower(strings.Trim(string(text), `" `)) {
	case "true", "1", "yes":
		*f = true
	case "false", "0", "no", "", "null":
		*f = false
	default:
		return fmt.Errorf("%s is neither true nor false", text)
	}
	return nil
}
