package offline

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a request, or a quoted text in it.
type word struct {
	text   string // without its quotes
	quote  string // the opening quote; empty for a bare word
	start  int    // in the request, the quotes included
	end    int
	newRow bool // the first on its line
}

const fence = "```"

// scan takes a request apart. Texts in "", ”, “ and typographic quotes, and
// fenced blocks, are one word each.
func scan(request string) []word {
	var words []word
	newRow := true
	unclosed := map[string]bool{} // quotes that have no end from here on
	for i := 0; i < len(request); {
		r, size := utf8.DecodeRuneInString(request[i:])
		if unicode.IsSpace(r) {
			newRow = newRow || r == '\n'
			i += size
			continue
		}
		w, ok := quoted(request, i, unclosed)
		if !ok {
			w = bare(request, i)
		}
		w.newRow = newRow
		words = append(words, w)
		newRow = false
		i = w.end
	}
	return words
}

// quoted reads the quoted text that begins at start, and notes a quote that is
// never closed, so that it is not looked for again.
func quoted(s string, start int, unclosed map[string]bool) (word, bool) {
	open, closing := quotesAt(s[start:])
	if open == "" || unclosed[open] {
		return word{}, false
	}
	from := start + len(open)
	for at := from; at < len(s); {
		switch {
		case open == `"` && s[at] == '\\' && at+1 < len(s):
			at += 2
		case strings.HasPrefix(s[at:], closing) && endsQuote(s[at+len(closing):], open):
			w := word{text: s[from:at], quote: open, start: start, end: at + len(closing)}
			if open == fence {
				w.text = fenced(w.text)
			}
			return w, true
		default:
			at++
		}
	}
	unclosed[open] = true
	return word{}, false
}

// quotesAt returns the quotes that s begins with, empty when it begins with
// none.
func quotesAt(s string) (open, closing string) {
	for _, pair := range [...][2]string{{fence, fence}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}} {
		if strings.HasPrefix(s, pair[0]) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

// endsQuote tells a closing quote from an apostrophe, by what follows.
func endsQuote(rest, open string) bool {
	if open != "'" && open != "‘" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// fenced takes the name of the language off a fenced block.
func fenced(block string) string {
	info, rest, ok := strings.Cut(block, "\n")
	if !ok || strings.ContainsAny(strings.TrimSpace(info), " \t") {
		return block
	}
	return rest
}

// bare reads a word up to a blank, or up to a quote inside it (content:"text").
func bare(s string, start int) word {
	end := start
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if unicode.IsSpace(r) || end > start && (r == '"' || r == '`' || r == '“') {
			break
		}
		end += size
	}
	return word{text: s[start:end], start: start, end: end}
}

// is reports whether a bare word is one of the given ones; case and punctuation
// around it do not count.
func (w word) is(any ...string) bool {
	return w.quote == "" && slices.Contains(any, w.key())
}

// key is a word as the tables of verbs and fillers have it.
func (w word) key() string {
	return strings.ToLower(strings.Trim(w.text, ".,;:!?()"))
}

// name is the word as the name of a file, empty when it cannot be one.
func (w word) name() string {
	if w.quote != "" {
		if strings.Contains(w.text, "\n") {
			return ""
		}
		return strings.TrimSpace(w.text)
	}
	name := strings.TrimLeft(strings.TrimRight(w.text, ".,;:!?)"), "(@")
	for _, possessive := range []string{"'s", "’s"} {
		name = strings.TrimSuffix(name, possessive)
	}
	return name
}

// isName reports whether a word looks like the name of a file by itself.
func (w word) isName() bool {
	name := w.name()
	if w.quote != "" {
		return name != ""
	}
	if strings.ContainsAny(name, `/\`) {
		return true
	}
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && dot < len(name)-1 && !strings.Contains(name, "..")
}

// content is the word as a text to write: escapes count inside double quotes.
func (w word) content() string {
	if w.quote == `"` {
		if s, err := strconv.Unquote(`"` + strings.ReplaceAll(w.text, "\n", `\n`) + `"`); err == nil {
			return s
		}
	}
	return w.text
}
