package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// maxShown bounds what a summary shows of one result, in lines.
const maxShown = 60

// summary tells what came of the steps, from the results of their calls.
func summary(steps []step, results, unclear []string) string {
	var b strings.Builder
	for i, result := range results {
		if i == len(steps) {
			break
		}
		if failed(result) {
			fmt.Fprintf(&b, "%s did not work: %s\n\n", steps[i].gerund(), reason(result))
			continue
		}
		b.WriteString(steps[i].report(result) + "\n\n")
	}
	if left := len(steps) - len(results); left > 0 && lastFailed(results) {
		fmt.Fprintf(&b, "I stopped there and left the rest undone (%d more).\n\n", left)
	}
	for _, part := range unclear {
		fmt.Fprintf(&b, "I did not understand this part: %s\n\n", part)
	}
	return b.String()
}

// gerund names a step as the subject of a sentence.
func (s step) gerund() string {
	switch s.kind {
	case kindRead:
		return "Reading " + s.path
	case kindReplace:
		return "Editing " + s.path
	case kindCreate:
		return "Writing " + s.path
	case kindRun:
		return "Running `" + s.command + "`"
	case kindNone:
	}
	return ""
}

// report tells of a step that worked.
func (s step) report(result string) string {
	switch s.kind {
	case kindRead:
		return fmt.Sprintf("This is %s:\n\n%s", s.path, block(result))
	case kindReplace:
		return fmt.Sprintf("%s is changed: %q is now %q.", s.path, s.old, s.new)
	case kindCreate:
		return fmt.Sprintf("%s is written (%d bytes).", s.path, len(s.new))
	case kindRun:
		return fmt.Sprintf("`%s` ran:\n\n%s", s.command, block(result))
	case kindNone:
	}
	return ""
}

// block quotes a result, its end cut off when it is long.
func block(text string) string {
	mark := fence
	for strings.Contains(text, mark) {
		mark += "`"
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("... and %d more lines", more))
	}
	return mark + "\n" + strings.Join(lines, "\n") + "\n" + mark
}

func lastFailed(results []string) bool {
	return len(results) > 0 && failed(results[len(results)-1])
}

// failed recognises the result of a call that did not do what it should: an
// error in words or in JSON, or the exit code of a command.
func failed(result string) bool {
	var object struct {
		Error    string `json:"error"`
		ExitCode int    `json:"exit_code"`
	}
	if json.Unmarshal([]byte(result), &object) == nil {
		return object.Error != "" || object.ExitCode != 0
	}
	return regexp.MustCompile(`^(Error: |Not run: )|[\[ ]exit code -?[1-9]\d*\]\s*$`).MatchString(result)
}

// reason is what a failed result says.
func reason(result string) string {
	var object struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(result), &object) == nil && object.Error != "" {
		return object.Error
	}
	result = strings.TrimSpace(strings.TrimPrefix(result, "Error: "))
	if strings.Contains(result, "\n") {
		return "\n\n" + block(result)
	}
	return result
}
