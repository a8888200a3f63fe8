package tools

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wordKind says how far a word's text is what the command will get.
type wordKind int

const (
	wordLiteral wordKind = iota // exactly
	wordGlob                    // it is a file name pattern
	wordDynamic                 // it holds an expansion; the text is only for looking at
)

// word returns a word's text after quote removal and tilde expansion.
func (r *lineReader) word(w *syntax.Word) (string, wordKind) {
	if w == nil {
		return "", wordLiteral
	}
	var b strings.Builder
	kind := wordLiteral
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			kind = max(kind, r.unquoted(&b, part.Value, i == 0, i == len(w.Parts)-1))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			if part.Dollar {
				kind = wordDynamic
			}
		case *syntax.DblQuoted:
			kind = max(kind, doubleQuoted(&b, part))
		default:
			kind = wordDynamic
			writeExpansion(&b, part)
		}
	}
	return b.String(), kind
}

// unquoted writes a literal outside quotes as the shell takes it. first and last
// say where in its word it stands.
func (r *lineReader) unquoted(b *strings.Builder, lit string, first, last bool) wordKind {
	kind := wordLiteral
	if first && strings.HasPrefix(lit, "~") {
		name, rest, slash := strings.Cut(lit[1:], "/")
		switch {
		case name != "" || !slash && !last || r.home == "":
			kind = wordDynamic // another user's home, or one that is not known
		case slash:
			b.WriteString(r.home + "/")
			lit = rest
		default:
			b.WriteString(r.home)
			lit = ""
		}
	}
	if strings.Contains(lit, "=~") || strings.Contains(lit, ":~") {
		kind = wordDynamic // may be expanded, as in an assignment
	}
	for i := 0; i < len(lit); i++ {
		switch c := lit[i]; c {
		case '\\':
			if i++; i < len(lit) && lit[i] != '\n' {
				b.WriteByte(lit[i])
			}
			continue
		case '*', '?', '[':
			if lit != "[" { // the command of that name
				kind = max(kind, wordGlob)
			}
		case '{':
			if !strings.HasPrefix(lit[i:], "{}") {
				kind = wordDynamic // a brace expansion, or near enough
			}
		}
		b.WriteByte(lit[i])
	}
	return kind
}

func doubleQuoted(b *strings.Builder, q *syntax.DblQuoted) wordKind {
	kind := wordLiteral
	if q.Dollar {
		kind = wordDynamic
	}
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			kind = wordDynamic
			writeExpansion(b, part)
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(lit.Value[i])
		}
	}
	return kind
}

// writeExpansion writes what a person would read: `$HOME` stays `$HOME`.
func writeExpansion(b *strings.Builder, part syntax.WordPart) {
	if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil {
		b.WriteString("$" + p.Param.Value)
		return
	}
	b.WriteString("$(...)")
}
