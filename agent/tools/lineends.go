package tools

import "strings"

// countLineEnds counts the lines that end in CRLF and in LF alone.
func countLineEnds(text string) (crlf, lf int) {
	crlf = strings.Count(text, "\r\n")
	return crlf, strings.Count(text, "\n") - crlf
}

// lineEnd returns the line end that most lines of text have: "\r\n" or "\n".
func lineEnd(text string) string {
	if crlf, lf := countLineEnds(text); crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// toLF returns text with CRLF written as LF.
func toLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// keepLineEnds gives text, which takes the place of old, the line ends of old:
// lines that are in both keep their own, a changed line gets that of the line
// it replaces, and further ones get eol. A text that has a CRLF itself was
// written with its line ends in mind and stays as it is.
func keepLineEnds(old, text, eol string) string {
	if eol == "\n" && !strings.Contains(old, "\r\n") || strings.Contains(text, "\r\n") {
		return text
	}
	oldLines, lines := strings.SplitAfter(old, "\n"), strings.SplitAfter(text, "\n")
	first, oldLast, last := 0, len(oldLines), len(lines)
	for first < min(oldLast, last) && toLF(oldLines[first]) == lines[first] {
		lines[first] = oldLines[first]
		first++
	}
	for min(oldLast, last) > first && toLF(oldLines[oldLast-1]) == lines[last-1] {
		oldLast, last = oldLast-1, last-1
		lines[last] = oldLines[oldLast]
	}

	replaced := oldLines[first:oldLast]
	ends := map[string]string{}
	for _, line := range replaced {
		if content, end := splitLineEnd(line); end != "" && ends[content] == "" {
			ends[content] = end
		}
	}
	for i, line := range lines[first:last] {
		content, end := splitLineEnd(line)
		if end == "" {
			continue
		}
		if end = ends[content]; end == "" && i < len(replaced) {
			_, end = splitLineEnd(replaced[i])
		}
		if end == "" {
			end = eol
		}
		lines[first+i] = content + end
	}
	return strings.Join(lines, "")
}

// splitLineEnd splits a line into its content and its end: "\n", "\r\n", or ""
// for a last line without one.
func splitLineEnd(line string) (content, end string) {
	content, ended := strings.CutSuffix(line, "\n")
	if !ended {
		return line, ""
	}
	content = strings.TrimSuffix(content, "\r")
	return content, line[len(content):]
}
