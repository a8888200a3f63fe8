package acp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxShown is how many bytes of one tool result the client is shown. The model
// gets the whole.
const maxShown = 5000

// truncate cuts a long text at a character's end and says so.
func truncate(text string) string {
	if len(text) <= maxShown {
		return text
	}
	cut := maxShown - 100
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n... (%d chars total, truncated)", text[:cut], utf8.RuneCountInString(text))
}

// preview is the beginning of a text on one line.
func preview(text string) string {
	const limit = 80 // runes
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= limit {
		return string(line)
	}
	return string(line[:limit-3]) + "..."
}

// fenced puts text into a Markdown code block whose fence is longer than any
// run of backticks inside.
func fenced(text string) string {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
