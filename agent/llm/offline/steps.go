package offline

import (
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
	case "read", "show", "open", "print", "display", "cat", "view", "look", "what", "what's", "what’s", "whats", "summarize", "summarise", "tell", "explain", "describe", "inspect", "check", "review":
		return kindRead
	case "replace", "change", "substitute", "swap", "rename", "turn", "update", "edit", "modify", "remove", "delete":
		return kindReplace
	case "create", "make", "write", "save", "put", "store", "generate":
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
		if s, ok := read(request, words, it); ok {
			if n := len(steps); n > 0 && s.kind == kindRead && s == steps[n-1] {
				continue // "what is in F? show it"
			}
			steps = append(steps, s)
			if s.path != "" {
				it = s.path
			}
			continue
		}
		if !isRemark(words) {
			unclear = append(unclear, slice(request, words))
		}
	}
	return steps, unclear
}

// split cuts a request where one step ends: at "then" and "and" before a verb,
// at the end of a sentence before a verb, and at the marks of a list.
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
		case i > 0 && w.verb() != kindNone && (w.newRow || endsSentence(words[i-1])):
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

func endsSentence(w word) bool {
	if w.quote != "" || len(w.text) < 2 {
		return false
	}
	return strings.ContainsRune(".;!?", rune(w.text[len(w.text)-1]))
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

// read finds the first verb whose phrase makes sense. it is the file that the
// steps before were about.
func read(request string, words []word, it string) (step, bool) {
	for i, w := range words {
		before, after := words[:i], words[i+1:]
		var s step
		ok := false
		switch w.verb() {
		case kindRead:
			s, ok = readStep(before, after, it)
		case kindReplace:
			s, ok = replaceStep(request, w, before, after, it)
		case kindCreate:
			s, ok = createStep(request, after)
		case kindRun:
			s, ok = runStep(request, after)
		case kindNone:
		}
		if ok {
			return s, true
		}
	}
	return step{}, false
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
