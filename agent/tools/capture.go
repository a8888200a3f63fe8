package tools

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// capture keeps the beginning and the end of a command's output, however much
// there is. It is safe for concurrent use.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // may be up to twice captureTail long; the last part counts
	total int64
}

const (
	captureHead = 16 << 10
	captureTail = 32 << 10
)

// Write never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := captureHead - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > captureTail {
		p = p[len(p)-captureTail:]
	}
	if len(c.tail)+len(p) > 2*captureTail {
		keep := c.tail[len(c.tail)-captureTail:]
		c.tail = c.tail[:copy(c.tail, keep)]
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// text returns what was kept, printable, with a line that says how much is
// missing between the two parts.
func (c *capture) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail
	if len(tail) > captureTail {
		tail = tail[len(tail)-captureTail:]
	}
	missing := c.total - int64(len(c.head)) - int64(len(tail))
	if missing == 0 {
		return printable(string(c.head) + string(tail))
	}
	head := trimPartialRune(c.head)
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) && missing < c.total {
		tail = tail[1:]
		missing++
	}
	missing += int64(len(c.head) - len(head))
	return fmt.Sprintf("%s\n[... %s left out ...]\n%s", printable(string(head)), byteCount(missing), printable(string(tail)))
}

// since returns what came after the first from bytes, as far as it was kept, and
// how many bytes have come in all.
func (c *capture) since(from int64) (text string, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-captureTail):]
	tailStart := c.total - int64(len(tail))
	head := c.head[min(from, int64(len(c.head))):]
	switch missing := tailStart - max(from, int64(len(c.head))); {
	case missing > 0:
		return fmt.Sprintf("%s\n[... %s left out ...]\n%s", printable(string(head)), byteCount(missing), printable(string(tail))), c.total
	case from > tailStart:
		tail = tail[from-tailStart:]
	}
	return printable(string(head) + string(tail)), c.total
}

// trimPartialRune drops the start of a character whose rest is missing.
func trimPartialRune(b []byte) []byte {
	for cut := len(b) - 1; cut >= 0 && cut > len(b)-utf8.UTFMax; cut-- {
		if utf8.RuneStart(b[cut]) {
			if !utf8.FullRune(b[cut:]) {
				return b[:cut]
			}
			break
		}
	}
	return b
}

// printable makes terminal output valid UTF-8 that reads as the terminal would
// show it: without escape sequences and control characters, and of a line that
// overwrites itself only the last version.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "�")
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	s = toLF(escapeSequences().ReplaceAllString(s, ""))
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, strings.Join(lines, "\n"))
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
}

// escapeSequences matches ECMA-48 control sequences (colours, cursor moves) and
// operating system commands (window titles, links).
var escapeSequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])`)
})
