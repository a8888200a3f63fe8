package wslbridge

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read JSON where it lies. They check only as much of it as they need to
// find their way, and answer -1 or false where they cannot.

// span is a range of bytes of a frame.
type span struct{ start, end int }

func (s span) in(frame []byte) []byte { return frame[s.start:s.end] }

// skipSpace returns the index of the first byte at or after i that is no JSON white space.
func skipSpace(frame []byte, i int) int {
	for i < len(frame) && (frame[i] == ' ' || frame[i] == '\t' || frame[i] == '\n' || frame[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string whose opening quote is at i.
func skipString(frame []byte, i int) int {
	for end := i + 1; ; end++ {
		quote := bytes.IndexByte(frame[end:], '"')
		if quote < 0 {
			return -1
		}
		end += quote
		first := end // of the backslashes before the quote; an even number of them escapes only each other
		for frame[first-1] == '\\' {
			first--
		}
		if (end-first)%2 == 0 {
			return end + 1
		}
	}
}

// skipValue returns the index behind the value that begins at i.
func skipValue(frame []byte, i int) int {
	if i >= len(frame) {
		return -1
	}
	switch frame[i] {
	case '"':
		return skipString(frame, i)
	case '{', '[':
		return skipContainer(frame, i)
	}
	end := i
	for end < len(frame) && isScalarByte(frame[end]) {
		end++
	}
	if end == i {
		return -1
	}
	return end
}

// isScalarByte reports whether c can stand in a number, true, false or null.
func isScalarByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

func skipContainer(frame []byte, i int) int {
	depth := 0
	for i < len(frame) {
		switch frame[i] {
		case '"':
			if i = skipString(frame, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// entries steps through an object or an array.
type entries struct {
	frame  []byte
	at     int  // while stepping: where the current value begins; at the end: behind the container
	key    span // of the current member with its quotes, in an object
	object bool // else an array
	first  bool
	failed bool // the container is malformed
}

// entriesOf steps through the container that begins at i. It reports false for any other value.
func entriesOf(frame []byte, i int) (entries, bool) {
	if i >= len(frame) || frame[i] != '{' && frame[i] != '[' {
		return entries{}, false
	}
	return entries{frame: frame, at: i + 1, object: frame[i] == '{', first: true}, true
}

// next moves to the next value, given the index behind the one before it (ignored on the first
// call). At the end of the container and where it is malformed, it returns false.
func (e *entries) next(behind int) bool {
	if !e.first {
		e.at = behind
	}
	if e.at < 0 {
		return e.fail()
	}
	e.at = skipSpace(e.frame, e.at)
	if e.at >= len(e.frame) {
		return e.fail()
	}
	switch c := e.frame[e.at]; {
	case c == '}' || c == ']':
		e.at++
		return false
	case e.first:
		e.first = false
	case c == ',':
		e.at = skipSpace(e.frame, e.at+1)
	default:
		return e.fail()
	}
	if e.object {
		return e.nextKey()
	}
	return e.at < len(e.frame) || e.fail()
}

func (e *entries) nextKey() bool {
	if e.at >= len(e.frame) || e.frame[e.at] != '"' {
		return e.fail()
	}
	end := skipString(e.frame, e.at)
	if end < 0 {
		return e.fail()
	}
	e.key = span{e.at, end}
	colon := skipSpace(e.frame, end)
	if colon >= len(e.frame) || e.frame[colon] != ':' {
		return e.fail()
	}
	e.at = skipSpace(e.frame, colon+1)
	return e.at < len(e.frame) || e.fail()
}

func (e *entries) fail() bool {
	e.failed = true
	e.at = -1
	return false
}

// memberOf returns the value of a member of the object at the given place, the last one if there are
// several. It is empty where there is none.
func memberOf(frame []byte, at span, name string) span {
	object, ok := entriesOf(frame, at.start)
	if !ok || !object.object || at.end == 0 {
		return span{}
	}
	var found span
	for behind := 0; object.next(behind); {
		behind = skipValue(frame, object.at)
		if string(unquote(object.key.in(frame))) == name {
			found = span{object.at, behind}
		}
	}
	if object.failed {
		return span{}
	}
	return found
}

// elementsOf returns the elements of the array at the given place, and false for another value.
func elementsOf(frame []byte, at span) ([]span, bool) {
	array, ok := entriesOf(frame, at.start)
	if !ok || array.object || at.end == 0 {
		return nil, false
	}
	var elements []span
	for behind := 0; array.next(behind); {
		behind = skipValue(frame, array.at)
		elements = append(elements, span{array.at, behind})
	}
	if array.failed {
		return nil, false
	}
	return elements, true
}

func isString(frame []byte, at span) bool { return at.end > 0 && frame[at.start] == '"' }

// isAbsent reports whether a value found by memberOf is none, or null.
func isAbsent(frame []byte, at span) bool { return at.end == 0 || frame[at.start] == 'n' }

// unquote returns the text of a JSON string given with its quotes. Where nothing is escaped, the
// text is a part of token. An unpaired surrogate becomes bytes that are not UTF-8, so that it
// is never taken for another character.
func unquote(token []byte) []byte {
	inner := token[1 : len(token)-1]
	next := bytes.IndexByte(inner, '\\')
	if next < 0 {
		return inner
	}
	text := make([]byte, 0, len(inner))
	for next >= 0 {
		text = append(text, inner[:next]...)
		inner = inner[next:]
		var used int
		text, used = appendUnescaped(text, inner)
		inner = inner[used:]
		next = bytes.IndexByte(inner, '\\')
	}
	return append(text, inner...)
}

// appendUnescaped appends what the escape sequence at the start of s stands for, and returns the
// sequence's length. What is no escape sequence of JSON is kept as it is.
func appendUnescaped(text, s []byte) (_ []byte, used int) {
	if len(s) < 2 {
		return append(text, s...), len(s)
	}
	switch s[1] {
	case '"', '\\', '/':
		return append(text, s[1]), 2
	case 'b':
		return append(text, '\b'), 2
	case 'f':
		return append(text, '\f'), 2
	case 'n':
		return append(text, '\n'), 2
	case 'r':
		return append(text, '\r'), 2
	case 't':
		return append(text, '\t'), 2
	case 'u':
		return appendCodeUnit(text, s)
	}
	return append(text, s[:2]...), 2
}

// appendCodeUnit appends the character of the \uXXXX at the start of s, or of the pair of them that
// makes a surrogate pair.
func appendCodeUnit(text, s []byte) (_ []byte, used int) {
	const length = len(`\uXXXX`)
	unit, ok := codeUnit(s)
	if !ok {
		return append(text, s[:2]...), 2
	}
	if !utf16.IsSurrogate(unit) {
		return utf8.AppendRune(text, unit), length
	}
	if low, ok := codeUnit(s[length:]); ok {
		if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
			return utf8.AppendRune(text, r), 2 * length
		}
	}
	return append(text, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0xBF, 0x80|byte(unit)&0xBF), length
}

// codeUnit reads the \uXXXX at the start of s.
func codeUnit(s []byte) (rune, bool) {
	if len(s) < len(`\uXXXX`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range s[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// appendQuoted appends s, which is UTF-8, as a JSON string with its quotes.
func appendQuoted(token []byte, s string) []byte {
	const hex = "0123456789abcdef"
	token = append(token, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			token = append(token, '\\', c)
		case c < 0x20:
			token = append(token, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			token = append(token, c)
		}
	}
	return append(token, '"')
}

// quoted is appendQuoted into a new slice.
func quoted(s string) []byte { return appendQuoted(make([]byte, 0, len(s)+8), s) }
