package wslbridge

import (
	"bytes"
	"slices"
)

// head is what the top level of a frame tells.
type head struct {
	method []byte // text; nil in a response
	id     span   // raw JSON; empty in a notification
}

// readHead reads the top level of a frame. It reports false for what is no JSON object, a batch
// among it. Where a key stands twice, the last counts, as in encoding/json.
func readHead(frame []byte) (head, bool) {
	var h head
	top, ok := entriesOf(frame, frameStart(frame))
	if !ok || !top.object {
		return head{}, false
	}
	for behind := 0; top.next(behind); {
		behind = skipValue(frame, top.at)
		if behind < 0 {
			return head{}, false
		}
		switch key := unquote(top.key.in(frame)); {
		case string(key) == "method" && frame[top.at] == '"':
			h.method = unquote(frame[top.at:behind])
		case string(key) == "id":
			h.id = span{top.at, behind}
		}
	}
	return h, !top.failed && skipSpace(frame, top.at) == len(frame)
}

// cutAnswerID returns the id of a response of which there is only the begin, cut in its result, when the
// id stands before that.
func cutAnswerID(begin []byte) (id []byte) {
	top, ok := entriesOf(begin, frameStart(begin))
	if !ok || !top.object {
		return nil
	}
	for behind := 0; top.next(behind); {
		behind = skipValue(begin, top.at)
		switch key := unquote(top.key.in(begin)); {
		case behind < 0 && string(key) == "result":
			return id
		case behind >= 0 && string(key) == "id":
			id = begin[top.at:behind]
		}
	}
	return nil
}

// frameStart returns where the frame's JSON begins, behind a byte order mark.
func frameStart(frame []byte) int {
	if bytes.HasPrefix(frame, []byte("\xEF\xBB\xBF")) {
		return skipSpace(frame, 3)
	}
	return skipSpace(frame, 0)
}

// field is a value of a frame that the table names.
type field struct {
	kind kind
	at   span // raw JSON
}

// appendFields appends the fields of a frame whose part ("params" or "result") has the given shape,
// in the order of the frame. Of a field that stands twice both are found, so that no reader takes
// one that has not crossed.
func appendFields(found []field, frame []byte, part string, s *shape) []field {
	w := walker{frame: frame, found: found}
	w.walkMembers(frameStart(frame), []member{{part, s}}, nil)
	return w.found
}

type walker struct {
	frame []byte
	found []field
}

// walk finds the fields of the value at i, which has the given shape, and returns the index behind
// the value. A value of another type than the shape's has no fields.
func (w *walker) walk(i int, s *shape) int {
	switch {
	case s.kind != kindNone:
		end := skipValue(w.frame, i)
		if end >= 0 && fits(s.kind, w.frame[i]) {
			w.found = append(w.found, field{s.kind, span{i, end}})
		}
		return end
	case s.element != nil:
		return w.walkElements(i, s.element)
	case s.tag != "":
		chosen, end := w.variantOf(i, s)
		if end < 0 || chosen == nil && s.members == nil {
			return end
		}
		return w.walkMembers(i, s.members, chosen)
	}
	return w.walkMembers(i, s.members, nil)
}

// fits reports whether a value that begins with c is of the type that fields of the kind have.
func fits(k kind, c byte) bool {
	switch k {
	case kindMCPServer, kindAuthMethod:
		return c == '{'
	case kindCanTerminal:
		return c == 't'
	case kindNone, kindPath, kindURI, kindCwd, kindRoot, kindListFilter:
	}
	return c == '"'
}

func (w *walker) walkElements(i int, s *shape) int {
	array, ok := entriesOf(w.frame, i)
	if !ok || array.object {
		return skipValue(w.frame, i)
	}
	for behind := 0; array.next(behind); {
		behind = w.walk(array.at, s)
	}
	return array.at
}

func (w *walker) walkMembers(i int, common, chosen []member) int {
	object, ok := entriesOf(w.frame, i)
	if !ok || !object.object {
		return skipValue(w.frame, i)
	}
	for behind := 0; object.next(behind); {
		key := unquote(object.key.in(w.frame))
		s := memberShape(common, key)
		if s == nil {
			s = memberShape(chosen, key)
		}
		if s == nil {
			behind = skipValue(w.frame, object.at)
		} else {
			behind = w.walk(object.at, s)
		}
	}
	return object.at
}

func memberShape(members []member, key []byte) *shape {
	for _, m := range members {
		if m.key == string(key) {
			return m.shape
		}
	}
	return nil
}

// variantOf returns the members that the object at i has by its tag, the last one if it has several,
// and the index behind the object.
func (w *walker) variantOf(i int, s *shape) ([]member, int) {
	object, ok := entriesOf(w.frame, i)
	if !ok || !object.object {
		return nil, skipValue(w.frame, i)
	}
	var chosen []member
	for behind := 0; object.next(behind); {
		behind = skipValue(w.frame, object.at)
		if behind >= 0 && w.frame[object.at] == '"' && string(unquote(object.key.in(w.frame))) == s.tag {
			chosen = s.membersOf(unquote(w.frame[object.at:behind]))
		}
	}
	return chosen, object.at
}

func (s *shape) membersOf(tag []byte) []member {
	for _, v := range s.options {
		if slices.Contains(v.tags, string(tag)) {
			return v.members
		}
	}
	return nil
}
