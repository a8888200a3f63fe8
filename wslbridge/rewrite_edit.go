package wslbridge

import (
	"bytes"
	"cmp"
	"slices"
)

// pass is the work on one frame after another of one direction. Its memory is used again.
type pass struct {
	fields []field
	edits  []edit
	out    []byte
	known  memo
}

// edit replaces a range of a frame.
type edit struct {
	at   span
	text []byte
}

func (p *pass) begin() {
	p.fields, p.edits = p.fields[:0], p.edits[:0]
	if cap(p.out) > maxSpareBytes {
		p.out = nil
	}
}

// replace makes text stand for the value at the given place; nil keeps the value.
func (p *pass) replace(at span, text []byte) {
	if text != nil {
		p.edits = append(p.edits, edit{at, text})
	}
}

// splice returns the frame with its edits done: the frame itself where there are none.
func (p *pass) splice(frame []byte) []byte {
	if len(p.edits) == 0 {
		return frame
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.at.start, b.at.start) })
	size := len(frame)
	for _, e := range p.edits {
		size += len(e.text)
	}
	out := slices.Grow(p.out[:0], size)
	from := 0
	for _, e := range p.edits {
		out = append(append(out, frame[from:e.at.start]...), e.text...)
		from = e.at.end
	}
	p.out = append(out, frame[from:]...)
	return p.out
}

// memo remembers what strings became, since a session names the same few files again and again.
type memo struct {
	generation int // of the view that it is valid for
	tokens     map[memoKey][]byte
}

// memoKey is a JSON string as a kind of field.
type memoKey struct {
	kind  kind
	token string
}

const maxMemo = 256

// token returns the JSON string that replaces a field, nil when the field stays. It asks translate
// about the field's text only when the memo does not know.
func (m *memo) token(generation int, f field, frame []byte, translate func(text string) (string, bool)) []byte {
	if m.generation != generation || len(m.tokens) >= maxMemo {
		m.generation = generation
		clear(m.tokens)
	}
	raw := f.at.in(frame)
	if token, ok := m.tokens[memoKey{f.kind, string(raw)}]; ok {
		return token
	}
	var token []byte
	text := string(unquote(raw))
	if became, ok := translate(text); ok && became != text {
		token = quoted(became)
	}
	if m.tokens == nil {
		m.tokens = make(map[memoKey][]byte)
	}
	m.tokens[memoKey{f.kind, string(raw)}] = token
	return token
}

// mayHaveKey reports whether a frame may have one of the keys, which are given as JSON strings: one
// of them stands there, or a letter is escaped.
func mayHaveKey(frame []byte, keys [][]byte) bool {
	for _, key := range keys {
		if bytes.Contains(frame, key) {
			return true
		}
	}
	const escape = `\u00`
	for rest := frame; ; {
		i := bytes.Index(rest, []byte(escape))
		if i < 0 || i+len(escape) == len(rest) {
			return false
		}
		rest = rest[i+len(escape):]
		if '4' <= rest[0] && rest[0] <= '7' {
			return true
		}
	}
}
