package store

import (
	"regexp"
	"sync"
)

// secrets matches what looks like a secret in a command line, behind what leads
// to it: a variable or flag whose name says so, an authorization header, the
// password of a URL, and keys that vendors give a prefix.
var secrets = sync.OnceValue(func() *regexp.Regexp {
	const value = `(?:"[^"]*"|'[^']*'|[^\s"';&|]+)`
	return regexp.MustCompile(`(?i)` +
		`(\b[a-z0-9_]*(?:key|token|secret|password|passwd|credentials?)[a-z0-9_]*\s*[=:]\s*)` + value +
		`|(--?[a-z0-9-]*(?:key|token|secret|password|passwd)[ =])` + value +
		`|(authorization\s*[=:]\s*(?:bearer|basic|token)?\s*)[^\s"']+` +
		`|(\bbearer\s+)[a-z0-9._~+/=-]{8,}` +
		`|(://[^\s/:@]*:)[^\s/@]+(@)` +
		`|\b(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ)[a-z0-9._-]{12,}`)
})

// redact takes secrets out of a text that is kept for later readers.
func redact(text string) string {
	return secrets().ReplaceAllString(text, "${1}${2}${3}${4}${5}[redacted]${6}")
}
