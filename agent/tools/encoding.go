package tools

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a text file's bytes stand for characters.
type encoding string

// A file that is not valid UTF-8 and has no byte-order mark is taken as Latin-1:
// every byte is one character, so that whatever the encoding really is, bytes
// that an edit does not touch stay as they are.
const (
	encUTF8    encoding = "UTF-8"
	encUTF16LE encoding = "UTF-16LE"
	encUTF16BE encoding = "UTF-16BE"
	encLatin1  encoding = "Latin-1"
)

const (
	bomUTF8    = "\xef\xbb\xbf"
	bomUTF16LE = "\xff\xfe"
	bomUTF16BE = "\xfe\xff"
)

var errBinary = errors.New("is a binary file")

// textFormat is what a text file keeps through an edit.
type textFormat struct {
	encoding encoding
	bom      bool
}

// String describes the format where it is not plain UTF-8, else "".
func (f textFormat) String() string {
	switch {
	case f.encoding == encUTF8 && !f.bom:
		return ""
	case f.bom:
		return string(f.encoding) + " with byte-order mark"
	case f.encoding == encLatin1:
		return "not UTF-8, shown as Latin-1"
	}
	return string(f.encoding)
}

// decodeText returns a file's text without its byte-order mark, line ends as
// they are. Its error is errBinary.
func decodeText(data []byte) (string, textFormat, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bomUTF8)) && utf8.Valid(data):
		return string(data[len(bomUTF8):]), textFormat{encUTF8, true}, nil
	case bytes.HasPrefix(data, []byte(bomUTF16LE)):
		text, err := decodeUTF16(data[2:], binary.LittleEndian)
		return text, textFormat{encUTF16LE, true}, err
	case bytes.HasPrefix(data, []byte(bomUTF16BE)):
		text, err := decodeUTF16(data[2:], binary.BigEndian)
		return text, textFormat{encUTF16BE, true}, err
	case bytes.IndexByte(data, 0) >= 0:
		return "", textFormat{}, errBinary
	case utf8.Valid(data):
		return string(data), textFormat{encUTF8, false}, nil
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes), textFormat{encLatin1, false}, nil
}

// decodeUTF16 refuses NUL characters (it is UTF-32 then, or no text) and what
// would not come back the same: half units and unpaired surrogates.
func decodeUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errBinary
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	if slices.Contains(units, 0) {
		return "", errBinary
	}
	runes := utf16.Decode(units)
	for i, at := 0, 0; i < len(runes); i++ {
		if runes[i] == utf8.RuneError && units[at] != utf8.RuneError {
			return "", errBinary
		}
		at += utf16.RuneLen(runes[i])
	}
	return string(runes), nil
}

// encode returns text as bytes of the format. Characters that the format lacks
// are an error.
func (f textFormat) encode(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the new text is not valid UTF-8")
	}
	var data []byte
	switch f.encoding {
	case encUTF16LE:
		data = encodeUTF16(text, bomUTF16LE, f.bom, binary.LittleEndian)
	case encUTF16BE:
		data = encodeUTF16(text, bomUTF16BE, f.bom, binary.BigEndian)
	case encLatin1:
		for _, r := range text {
			if r > 0xff {
				return nil, fmt.Errorf("the file is not in UTF-8; taken as Latin-1, it cannot hold %q", r)
			}
			data = append(data, byte(r))
		}
	case encUTF8:
		if f.bom {
			data = append(data, bomUTF8...)
		}
		data = append(data, text...)
	}
	return data, nil
}

func encodeUTF16(text, bom string, withBOM bool, order binary.AppendByteOrder) []byte {
	var data []byte
	if withBOM {
		data = append(data, bom...)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return data
}
