package wslbridge

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// decodeConsoleText turns what wsl.exe printed into UTF-8 with plain line ends. Its own messages are
// UTF-16LE, without a byte order mark, unless it knows WSL_UTF8 (WSL#4607). Both encodings may stand
// in one stream, so each line is judged by its end.
func decodeConsoleText(raw []byte) string {
	raw = bytes.TrimPrefix(raw, []byte("\xff\xfe"))
	var text strings.Builder
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		switch {
		case end >= 0 && end%2 == 0 && end+1 < len(raw) && raw[end+1] == 0:
			end += 2
			text.WriteString(decodeUTF16(raw[:end]))
		case end >= 0:
			end++
			text.Write(raw[:end])
		default:
			end = len(raw)
			if bytes.IndexByte(raw, 0) >= 0 {
				text.WriteString(decodeUTF16(raw))
			} else {
				text.Write(raw)
			}
		}
		raw = raw[end:]
	}
	clean := strings.NewReplacer("\r\n", "\n", "\x00", "").Replace(text.String())
	return strings.ToValidUTF8(clean, "\uFFFD")
}

// decodeUTF16 leaves out an odd last byte.
func decodeUTF16(raw []byte) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}
