package wslbridge

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func utf16le(text string) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return string(raw)
}

func TestW31_W32_DecodeConsoleText(t *testing.T) {
	for name, tc := range map[string]struct{ raw, want string }{
		"UTF-16LE":               {"T\x00o\x00u\x00s\x00\r\x00\n\x00", "Tous\n"},
		"UTF-16LE with BOM":      {"\xff\xfe" + utf16le("Größe\r\n"), "Größe\n"},
		"UTF-16LE, no line end":  {utf16le("Größe"), "Größe"},
		"odd byte count":         {utf16le("ab") + "c", "ab"},
		"UTF-8":                  {"Größe 😀\r\nzwei\n", "Größe 😀\nzwei\n"},
		"empty":                  {"", ""},
		"one byte":               {"x", "x"},
		"UTF-8, then UTF-16":     {"banner ü\n" + utf16le("Nicht gefunden ü.\r\n"), "banner ü\nNicht gefunden ü.\n"},
		"UTF-16, then UTF-8":     {utf16le("Größe\r\n") + "rest ü\n", "Größe\nrest ü\n"},
		"Cyrillic":               {utf16le("Ошибка диска\r\nещё\r\n"), "Ошибка диска\nещё\n"},
		"not valid in any":       {"a\xffb\n", "a\uFFFDb\n"},
		"a list of names, UTF-8": {"Ubuntu\r\nDébian-ü\r\n", "Ubuntu\nDébian-ü\n"},
		"the same in UTF-16":     {utf16le("Ubuntu\r\nDébian-ü\r\n"), "Ubuntu\nDébian-ü\n"},
	} {
		if got := decodeConsoleText([]byte(tc.raw)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func FuzzDecodeConsoleText(f *testing.F) {
	f.Add([]byte("T\x00o\x00\r\x00\n\x00"))
	f.Add([]byte("\xff\xfex"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := decodeConsoleText(raw); !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
	})
}
