package wslbridge

import (
	"bytes"
	"cmp"
	"slices"
)

// pass is the work on one frame after another of one direction. Its memory is used again.
type pass struct {
	fields  []field
	edits   []edit
	scratch []byte // texts of edits
	out     []byte
	known   memo
}

// edit replaces a range of a frame.
type edit struct {
	at   span
	text []byte
}

func (p *pass) begin() {
	p.fields, p.edits, p.scratch = p.fields[:0], p.edits[:0], p.scratch[:0]
	if cap(p.out) > maxSpareBytes {
		p.out = nil
	}
}

// replace makes text stand for the value at the given place.
func (p *pass) replace(at span, text []byte) {
	p.edits = append(p.edits, edit{at, text})
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

// translate replaces a field by what its text becomes, unless translate keeps it. It asks translate
// only when it does not know yet.
func (p *pass) translate(frame []byte, f field, generation int, translate func(text string) (string, bool)) {
	text := unquote(f.at.in(frame))
	became, known := p.known.get(generation, f.kind, text)
	if !known {
		became = p.known.learn(f.kind, string(text), translate)
	}
	if became == "" {
		return
	}
	from := len(p.scratch)
	p.scratch = appendQuoted(p.scratch, became)
	p.replace(f.at, p.scratch[from:])
}

// memo remembers what the texts of fields became, since a session names the same few files again and
// again.
type memo struct {
	generation int // of the view that it is valid for
	became     map[memoKey]string
}

type memoKey struct {
	kind kind
	text string
}

const (
	maxMemo     = 256
	maxMemoText = 4096 // bytes; longer ones are no paths, but may be images as data: URIs
)

// get returns what a text became, "" when it stays.
func (m *memo) get(generation int, k kind, text []byte) (became string, known bool) {
	if m.generation != generation || len(m.became) >= maxMemo {
		m.generation = generation
		clear(m.became)
	}
	became, known = m.became[memoKey{k, string(text)}]
	return became, known
}

// learn asks translate, and remembers and returns what get will return.
func (m *memo) learn(k kind, text string, translate func(text string) (string, bool)) (became string) {
	if result, changed := translate(text); changed && result != text {
		became = result
	}
	if len(text) > maxMemoText {
		return became
	}
	if m.became == nil {
		m.became = make(map[memoKey]string)
	}
	m.became[memoKey{k, text}] = became
	return became
}

// mayHaveKey reports whether a frame may have one of the keys: it has one, or one with an escape. It
// reads no more than colons and what stands before them.
func mayHaveKey(frame []byte, keys []string) bool {
	for {
		colon := bytes.IndexByte(frame, ':')
		if colon < 0 {
			return false
		}
		if mayEndInKey(frame[:colon], keys) {
			return true
		}
		frame = frame[colon+1:]
	}
}

// mayEndInKey reports whether s, which is what stands between two colons, may end in one of the keys.
func mayEndInKey(s []byte, keys []string) bool {
	for len(s) > 0 && skipSpace(s, len(s)-1) == len(s) {
		s = s[:len(s)-1]
	}
	// Behind a backslash the quote belongs to a text.
	if len(s) < 2 || s[len(s)-1] != '"' || s[len(s)-2] == '\\' {
		return false
	}
	s = s[:len(s)-1]
	key := s[bytes.LastIndexByte(s, '"')+1:]
	return slices.Contains(keys, string(key)) || bytes.IndexByte(key, '\\') >= 0
}
