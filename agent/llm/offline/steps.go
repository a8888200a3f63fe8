package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// kind is what a step wants done.
type kind int

const (
	kindNone kind = iota
	kindRead
	kindReplace
	kindCreate
	kindRun
)

// step is one thing to do.
type step struct {
	kind kind
	path string
	// old and new are the texts of a replacement; new is a created file's
	// content too.
	old, new string
	all      bool // replace every occurrence
	command  string
}

// verb returns what a word asks for.
func (w word) verb() kind {
	if w.quote != "" {
		return kindNone
	}
	switch w.key() {
	case "read", "show", "see", "open", "print", "display", "cat", "view", "look", "what", "what's", "what’s", "whats", "summarize", "summarise", "tell", "explain", "describe", "inspect", "check", "review":
		return kindRead
	case "replace", "change", "substitute", "swap", "rename", "turn", "update", "edit", "modify", "fix", "correct", "remove", "delete":
		return kindReplace
	case "create", "make", "write", "save", "put", "store", "generate", "add":
		return kindCreate
	case "run", "execute", "exec":
		return kindRun
	}
	return kindNone
}

// maxRequest is the longest request that is looked at, in bytes. What is longer
// is no simple request.
const maxRequest = 16 << 10

// understand returns the steps that a request asks for, and the parts of it that
// ask for something else.
func understand(request string) (steps []step, unclear []string) {
	if len(request) > maxRequest {
		return nil, nil
	}
	it := "" // the file that was named last
	for _, words := range split(scan(request)) {
		found := read(request, words, it)
		if len(found) == 0 {
			if name := lastName(words); name != "" && len(words) <= 4 {
				it = name // "edit F and ..."
			} else if !isRemark(words) {
				unclear = append(unclear, slice(request, words))
			}
			continue
		}
		for _, s := range found {
			steps = add(steps, s)
			it = cmp.Or(s.path, it)
		}
	}
	return steps, unclear
}

// add appends a step, unless it says once more what the last one does: "what is
// in F? show it", "create F and write C in it".
func add(steps []step, s step) []step {
	if n := len(steps); n > 0 {
		last := &steps[n-1]
		switch {
		case s == *last && s.kind == kindRead:
			return steps
		case s.kind == kindCreate && last.kind == kindCreate && s.path == last.path && last.new == "":
			*last = s
			return steps
		}
	}
	return append(steps, s)
}

// split cuts a request where one step ends: at "then" and "and" before a verb,
// at the end of a sentence before a verb, at a comma between verbs, and at the
// marks of a list.
func split(words []word) [][]word {
	var parts [][]word
	var part []word
	cut := func() {
		if len(part) > 0 {
			parts = append(parts, part)
			part = nil
		}
	}
	listMark := regexp.MustCompile(`^(\d+[.)]|[-*•])$`)
	for i, w := range words {
		switch {
		case w.newRow && w.quote == "" && listMark.MatchString(w.text):
			cut()
			continue
		case w.is("then", "and", "afterwards", "finally", "next") && verbFollows(words[i+1:]):
			cut()
			continue
		case i > 0 && w.verb() != kindNone && (w.newRow || ends(words[:i], ".;!?") || ends(words[:i], ",") && hasVerb(part)):
			cut()
		}
		part = append(part, w)
	}
	cut()
	return parts
}

// verbFollows looks past polite words.
func verbFollows(words []word) bool {
	for _, w := range words {
		if !w.is("then", "please", "also", "finally", "afterwards", "next", "you", "to", "can", "could", "just") {
			return w.verb() != kindNone
		}
	}
	return false
}

func hasVerb(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.verb() != kindNone })
}

// ends reports whether words end with one of the marks. A mark is part of the
// bare word before it, or follows a quoted one.
func ends(words []word, marks string) bool {
	last := words[len(words)-1]
	if last.quote != "" || !strings.ContainsRune(marks, rune(last.text[len(last.text)-1])) {
		return false
	}
	return len(last.text) > 1 || len(words) > 1 && words[len(words)-2].end == last.start
}

// isRemark recognises what asks for nothing by itself: "and tell me the result",
// "thanks".
func isRemark(words []word) bool {
	for _, w := range words {
		if v := w.verb(); w.quote != "" || v != kindNone && v != kindRead {
			return false
		}
	}
	return len(words) < 8
}

// read finds the first verb whose phrase makes sense, and what it asks for. it is
// the file that the steps before were about.
func read(request string, words []word, it string) []step {
	for i, w := range words {
		before, after := words[:i], words[i+1:]
		var s step
		ok := false
		switch w.verb() {
		case kindRead:
			if steps := readSteps(before, after, it); len(steps) > 0 {
				return steps
			}
		case kindReplace:
			s, ok = replaceStep(request, w, before, after, it)
		case kindCreate:
			s, ok = createStep(request, w, after, it)
		case kindRun:
			s, ok = runStep(request, after)
		case kindNone:
		}
		if ok {
			return []step{s}
		}
	}
	return nil
}

// slice is the request's own text from the first of the words to the last.
func slice(request string, words []word) string {
	if len(words) == 0 {
		return ""
	}
	return request[words[0].start:words[len(words)-1].end]
}

// plain is the text of bare words, without the full stop that ends the sentence.
func plain(request string, words []word) string {
	text := slice(request, words)
	if n := len(words); n > 0 && words[n-1].quote == "" && len(words[n-1].text) > 1 && !strings.HasSuffix(text, "..") {
		text = strings.TrimRight(text, ".,;!?")
	}
	return text
}

// skip passes over leading words that say nothing here.
func skip(words []word, fillers ...string) []word {
	for len(words) > 0 && words[0].is(fillers...) {
		words = words[1:]
	}
	return words
}

// drop takes such words off the end.
func drop(words []word, fillers ...string) []word {
	for len(words) > 0 && words[len(words)-1].is(fillers...) {
		words = words[:len(words)-1]
	}
	return words
}

func indexOf(words []word, any ...string) int {
	return slices.IndexFunc(words, func(w word) bool { return w.is(any...) })
}

func firstQuoted(words []word) (word, bool) {
	i := slices.IndexFunc(words, func(w word) bool { return w.quote != "" })
	if i < 0 {
		return word{}, false
	}
	return words[i], true
}
