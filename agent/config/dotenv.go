package config

import (
	"strings"

	"github.com/joho/godotenv"
)

// parseDotenv reads a .env file. Windows line ends and a byte order mark are
// taken for what they are.
func parseDotenv(path, text string) (map[string]string, error) {
	if reason := notUTF8(text); reason != "" {
		return nil, &FileError{Path: path, Reason: reason}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		// godotenv's own error quotes the file.
		return nil, &FileError{Path: path, Line: badLine(text), Reason: "this is not NAME=value, or a quote is not closed"}
	}
	return values, nil
}

// badLine finds the line after the longest beginning of the text that is valid.
func badLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := godotenv.Unmarshal(strings.Join(lines[:n], "")); err == nil {
			return n + 1
		}
	}
	return 1
}

// notUTF8 says why a text cannot be read; empty when it can. PowerShell's > makes
// UTF-16 files.
func notUTF8(text string) string {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "the file is UTF-16; save it as UTF-8"
	}
	if strings.ContainsRune(text, 0) {
		return "the file is not a text file"
	}
	return ""
}
