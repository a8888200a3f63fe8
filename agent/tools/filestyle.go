package tools

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// fileStyle is how a project wants its new files: what .editorconfig says, and
// where it is silent .gitattributes. The zero value wants nothing.
type fileStyle struct {
	lineEnd      string // "\n", "\r\n", or "" for as given
	format       textFormat
	finalNewline bool
}

// apply gives a new file's text its line ends and its last newline.
func (s fileStyle) apply(text string) string {
	if s.lineEnd != "" {
		text = strings.ReplaceAll(toLF(text), "\n", s.lineEnd)
	}
	if s.finalNewline && text != "" && !strings.HasSuffix(text, "\n") {
		text += cmp.Or(s.lineEnd, lineEnd(text))
	}
	return text
}

// styleFor returns the style of a new file at target.
func styleFor(target string) fileStyle {
	var s fileStyle
	for key, value := range gitAttributes(target) {
		switch key {
		case "eol":
			s.lineEnd = map[string]string{"lf": "\n", "crlf": "\r\n"}[value]
		case "working-tree-encoding":
			s.format = formatNamed(strings.TrimSuffix(strings.ToLower(value), "-bom"))
		}
	}
	config := editorConfig(target)
	if end, ok := map[string]string{"lf": "\n", "crlf": "\r\n"}[config["end_of_line"]]; ok {
		s.lineEnd = end
	}
	if charset := config["charset"]; charset != "" {
		s.format = formatNamed(charset)
	}
	s.finalNewline = config["insert_final_newline"] == "true"
	if s.format.encoding == "" {
		s.format.encoding = encUTF8
	}
	return s
}

// formatNamed returns the format of a charset as .editorconfig spells it. UTF-16
// gets a byte-order mark: without one nobody could tell it from binary data.
func formatNamed(charset string) textFormat {
	switch charset {
	case "utf-8-bom":
		return textFormat{encUTF8, true}
	case "utf-16le", "utf-16":
		return textFormat{encUTF16LE, true}
	case "utf-16be":
		return textFormat{encUTF16BE, true}
	case "latin1", "iso-8859-1":
		return textFormat{encLatin1, false}
	}
	return textFormat{encUTF8, false}
}

// maxConfigSize bounds the configuration files that are read.
const maxConfigSize = 256 << 10

// editorConfig returns the properties, in lower case, that the .editorconfig
// files above target give it (https://spec.editorconfig.org). Number ranges in
// section names are not known.
func editorConfig(target string) map[string]string {
	var files []string // nearest first
	for dir := filepath.Dir(target); ; dir = filepath.Dir(dir) {
		text := readConfig(filepath.Join(dir, ".editorconfig"))
		if text != "" {
			files = append(files, filepath.Join(dir, ".editorconfig"))
		}
		if isEditorConfigRoot(text) || dir == filepath.Dir(dir) {
			break
		}
	}
	properties := map[string]string{}
	for _, file := range slices.Backward(files) {
		rel, err := filepath.Rel(filepath.Dir(file), target)
		if err != nil {
			continue
		}
		applies := false
		for line := range configLines(readConfig(file)) {
			if section, ok := strings.CutPrefix(line, "["); ok {
				applies = matchesSection(strings.TrimSuffix(section, "]"), filepath.ToSlash(rel))
				continue
			}
			if key, value, ok := strings.Cut(line, "="); ok && applies {
				properties[lowerTrim(key)] = lowerTrim(value)
			}
		}
	}
	return properties
}

func lowerTrim(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// isEditorConfigRoot reports whether the text says root=true before its first
// section.
func isEditorConfigRoot(text string) bool {
	for line := range configLines(text) {
		if strings.HasPrefix(line, "[") {
			return false
		}
		if key, value, _ := strings.Cut(line, "="); lowerTrim(key) == "root" {
			return lowerTrim(value) == "true"
		}
	}
	return false
}

// matchesSection matches a section's glob; one without a slash matches names at
// any depth.
func matchesSection(glob, rel string) bool {
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	ok, err := doublestar.Match(strings.TrimPrefix(glob, "/"), rel)
	return ok && err == nil
}

// gitAttributes returns the attributes that the .gitattributes files between
// target and its repository's root give it.
func gitAttributes(target string) map[string]string {
	var dirs []string // nearest first
	for dir := filepath.Dir(target); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if isRepositoryRoot(dir) {
			break
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
	attributes := map[string]string{}
	for _, dir := range slices.Backward(dirs) {
		for line := range configLines(readConfig(filepath.Join(dir, ".gitattributes"))) {
			fields := strings.Fields(line)
			rules := parseIgnore(fields[0])
			if len(rules) == 1 && rules[0].matches(target[len(dir)+1:], filepath.Base(target)) {
				for _, field := range fields[1:] {
					key, value, _ := strings.Cut(field, "=")
					attributes[key] = value
				}
			}
		}
	}
	return attributes
}

// readConfig returns a configuration file's text; "" when there is none that
// can be read.
func readConfig(path string) string {
	data, _, err := readRegular(path, maxConfigSize)
	if err != nil {
		return ""
	}
	text, _, err := decodeText(data)
	if err != nil {
		return ""
	}
	return text
}

// configLines yields the lines of a configuration file that are neither blank
// nor comments, trimmed.
func configLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && line[0] != ';' && !yield(line) {
				return
			}
		}
	}
}
