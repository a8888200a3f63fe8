package offline

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// readSteps understands "read F", "read F and G", "show me the contents of F",
// "what is in F", "show it", and "what is the output of `C`".
func readSteps(before, after []word, it string) []step {
	if command, ok := firstQuoted(after); ok && indexOf(after, "output", "command") >= 0 {
		return []step{{kind: kindRun, command: command.text}}
	}
	for _, words := range [][]word{after, before} {
		var steps []step
		for _, w := range words {
			if w.isName() {
				steps = append(steps, step{kind: kindRead, path: w.name()})
			}
		}
		if len(steps) > 0 {
			return steps
		}
	}
	// A name without a dot: "the file Makefile", "read LICENSE".
	after = skip(after, "me", "us", "the", "a", "file", "named", "called", "content", "contents", "of", "in", "at", "is", "to", "out")
	if len(after) == 0 {
		return nil
	}
	if it != "" && after[0].is("it") {
		return []step{{kind: kindRead, path: it}}
	}
	if name := after[0].name(); name != "" && unicode.IsUpper([]rune(name)[0]) && len(after) == 1 {
		return []step{{kind: kindRead, path: name}}
	}
	return nil
}

// runStep understands "run `C`", "execute the command C".
func runStep(request string, after []word) (step, bool) {
	after = drop(after, "please", "now", "me", "for")
	command := skip(after, "the", "this", "a", "following", "shell", "bash", "command", "in", "terminal", "line")
	if len(command) == 0 {
		return step{}, false
	}
	first := command[0]
	if first.quote != "" && (first.quote == "`" || first.quote == fence || !continuesCommand(command[1:])) {
		s := step{kind: kindRun, command: strings.TrimSpace(first.text)}
		return s, s.command != ""
	}
	named := indexOf(after[:len(after)-len(command)], "command", "following", "line") >= 0
	if len(command) < len(after) && !named { // "run the tests" names no command
		return step{}, false
	}
	s := step{kind: kindRun, command: plain(request, command)}
	return s, s.command != ""
}

// continuesCommand reports whether words after a quoted one are its arguments.
func continuesCommand(rest []word) bool {
	return len(rest) > 0 && (rest[0].quote != "" || strings.ContainsAny(rest[0].text[:1], "-/.|&<>;$") || strings.Contains(rest[0].text, "="))
}

// replaceStep understands "replace X with Y in F", "change X to Y in F", "in F
// replace X by Y", "substitute Y for X in F", "update F from X to Y", "remove X
// from F". Without a file it is about the one before.
func replaceStep(request string, verb word, before, after []word, it string) (step, bool) {
	s := step{kind: kindReplace, all: indexOf(append(slices.Clone(before), after...), "all", "every", "each", "everywhere", "throughout", "occurrences") >= 0}
	after = drop(after, "please", "ok", "okay", "thanks", "now", "everywhere", "throughout", "too", "in", "it", "there", "that", "this", "same", "file")
	if verb.is("remove", "delete") {
		return removeStep(s, before, after, it)
	}
	at := separator(verb, after)
	if at < 1 {
		return step{}, false
	}
	from, to := after[:at], after[at+1:]
	if slices.ContainsFunc(from, func(w word) bool { return w.verb() == kindReplace }) {
		return step{}, false // "update F: change X to Y" is for the second verb
	}
	s.path, to = takeFile(to, "in", "inside", "within", "of")
	if s.path == "" {
		s.path, from = takeFile(from, "in", "inside", "within", "of")
	}
	if s.path == "" {
		s.path, from = takeLeadingFile(from)
	}
	s.path = cmp.Or(s.path, lastName(before), it)
	if i := indexOf(from, "from"); i >= 0 {
		from = from[i+1:]
	}
	if verb.is("substitute") && after[at].is("for") {
		from, to = to, from
	}
	s.old, s.new = operand(request, from), operand(request, to)
	if len(to) == 1 && to[0].is("nothing") {
		s.new = ""
	}
	return s, s.path != "" && s.old != "" && len(to) > 0
}

func removeStep(s step, before, after []word, it string) (step, bool) {
	s.path, after = takeFile(after, "from", "in", "inside", "within")
	s.path = cmp.Or(s.path, lastName(before), it)
	old, ok := firstQuoted(after)
	s.old = old.content()
	return s, ok && s.path != "" && s.old != ""
}

// separator finds the word between the old text and the new one. The first that
// the verb prefers counts, so that "replace go to with come to" is not cut at
// "to".
func separator(verb word, words []word) int {
	preferences := [][]string{{"with", "by"}, {"->", "=>", "→"}, {"to", "into"}}
	switch {
	case verb.is("change", "rename", "turn", "update", "edit", "modify", "fix", "correct"):
		preferences = [][]string{{"to", "into", "becomes"}, {"->", "=>", "→"}, {"with"}}
	case verb.is("substitute", "swap"):
		preferences = [][]string{{"for"}, {"with", "by"}}
	}
	for _, any := range preferences {
		if i := indexOf(words, any...); i >= 0 {
			return i
		}
	}
	return -1
}

// takeFile takes "in the file F" off the end of a phrase, with one of the given
// prepositions.
func takeFile(words []word, prepositions ...string) (path string, rest []word) {
	for i, w := range slices.Backward(words) {
		if !w.is(prepositions...) {
			continue
		}
		name := skip(words[i+1:], "the", "file", "named", "called")
		if len(name) == 1 && (name[0].isName() || len(name) < len(words[i+1:])) {
			return name[0].name(), words[:i]
		}
	}
	return "", words
}

// takeLeadingFile takes "in F", "F from" or "F so that" off the start of a phrase.
func takeLeadingFile(words []word) (path string, rest []word) {
	named := skip(words, "in", "inside", "within", "the", "file")
	if len(named) < 2 || !named[0].isName() {
		return "", words
	}
	if words[0].is("in", "inside", "within") || named[1].is("from", "so") {
		return named[0].name(), skip(named[1:], "so", "that")
	}
	return "", words
}

// lastName is the file that an opening names: "in F, ...", "edit F: ...".
func lastName(words []word) string {
	for _, w := range slices.Backward(words) {
		if w.isName() {
			return w.name()
		}
	}
	return ""
}

// operand is the text that a phrase means: a quoted one, else its words as they
// stand.
func operand(request string, words []word) string {
	named := skip(words, "the", "all", "every", "each", "any", "occurrence", "occurrences", "instance", "instances", "of", "word", "words", "text", "string", "line", "phrase", "typo", "variable", "function")
	if len(named) == 0 {
		return plain(request, words)
	}
	if named = drop(named, "", "instead"); len(named) == 1 && named[0].quote != "" {
		return named[0].content()
	}
	return plain(request, named)
}

// createStep understands "create F with the content C", "make a file named F
// that says C", "write C to F". It refuses what may mean to add to a file: this
// would replace it.
func createStep(request string, verb word, after []word, it string) (step, bool) {
	after = drop(after, "please")
	if verb.is("add") {
		if file := skip(after, "a", "an", "new", "empty", "text"); len(file) == 0 || !file[0].is("file") {
			return step{}, false
		}
	} else if s, ok := contentFirst(request, after, it); ok {
		return s, true
	}
	name := skip(after, "a", "an", "the", "new", "empty", "text", "file", "called", "named", "at", "me", "us")
	if len(name) == 0 {
		return step{}, false
	}
	announced := indexOf(after[:len(after)-len(name)], "file", "called", "named") >= 0
	if !name[0].isName() && !announced {
		return step{}, false
	}
	s := step{kind: kindCreate, path: name[0].name()}
	rest := name[1:]
	content := skipIntroduction(rest)
	var quotes []string
	for _, w := range content {
		if w.quote != "" {
			quotes = append(quotes, w.content())
		}
	}
	switch {
	case len(quotes) > 0:
		s.new = strings.Join(quotes, "\n")
	case len(content) < len(rest) || strings.HasSuffix(name[0].text, ":"):
		s.new = plain(request, content)
	case len(rest) > 0, !verb.is("create", "make", "generate", "add"):
		return step{}, false
	}
	return s, s.path != ""
}

// skipIntroduction passes over "with the content", "that says", "containing the
// text", but not over a "the" that belongs to the content.
func skipIntroduction(words []word) []word {
	nouns := []string{"content", "contents", "text", "body", "following", "line", "lines", "words"}
	words = skip(words, "with", "containing", "contains", "that", "which", "says", "say", "saying", "reads", "reading", "having", "holding", "holds", "has", "whose", "and", "put", "inside", "")
	if noun := skip(words, "the", "its", "as", "one", "two", "three", "a"); len(noun) > 0 && noun[0].is(nouns...) {
		words = skip(skip(noun, nouns...), "is", "are", "of", "in", "it", "")
	}
	return words
}

// contentFirst understands "write C to F" and "write C in it".
func contentFirst(request string, words []word, it string) (step, bool) {
	for i, w := range slices.Backward(words) {
		if i == 0 || !w.is("to", "into", "in", "as", "at") {
			continue
		}
		name := skip(words[i+1:], "a", "an", "the", "new", "text", "file", "called", "named")
		if len(name) != 1 {
			continue
		}
		path := name[0].name()
		switch {
		case it != "" && name[0].is("it"):
			path = it
		case !name[0].isName() && len(name) == len(words[i+1:]):
			continue
		}
		content := skip(words[:i], "the", "a", "text", "line", "word", "words", "content", "string")
		if first := words[:i]; len(content) == 0 || content[0].quote == "" && first[0].is("a", "an", "file", "new") {
			return step{}, false
		}
		return step{kind: kindCreate, path: path, new: operand(request, content)}, true
	}
	return step{}, false
}
