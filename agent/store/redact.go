package store

import (
	"regexp"
	"sync"
)

// secrets match what looks like a secret in a command line. What their groups
// hold stays.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	const (
		name  = `[a-z0-9_-]*(?:key|token|secret|password|passwd|credentials?)[a-z0-9_-]*`
		word  = `(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|[^\s"';&|\\])+` // as a shell reads one
		plain = `[^\s"';&|\\]+`
	)
	patterns := []string{
		`((?:^|[\s;&|(])` + name + `(?:=|\s*:\s+))` + word,              // NAME=value, --name=value
		`(\b` + name + `\s*[=:]\s*)` + plain,                            // ?name=value, "Name: value"
		`(\\?["']` + name + `\\?["']\s*:\s*\\?["'])[^"'\\]+`,            // {"name": "value"}
		`(--?[a-z0-9-]*(?:key|token|secret|password|passwd)\s)` + word,  // --name value
		`(\baws_(?:secret_access_key|session_token)\s+)` + word,         // aws configure set
		`(\bauthorization\s*[=:]\s*(?:bearer|basic|token)?\s*)[^\s"']+`, // a header
		`(\bbearer\s+)[a-z0-9._~+/=-]{8,}`,
		`(\bcookie\s*:\s*)[^"'\n]+`,
		`(\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']+:)[^\s"']+`, // curl -u me:password
		`(\bsshpass\s+-p\s*)` + word,                                 // -p, of programs where that is one
		`(\b(?:mysql|mariadb)[a-z]*\s(?:[^;&|\n]*\s)?-p)` + word,
		`(\bdocker\s+login\s(?:[^;&|\n]*\s)?-p\s+)` + word,
		`(\bpass:)` + plain,         // openssl -passin
		`(://[^\s/:@]*:)[^\s/]+(@)`, // a URL with me:password@
		`(\bhttps?://)[^\s/:@]+(@)`, // and one with token@
		`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END|$)`,
		`()\b(?:sk-|[sr]k_(?:live|test)_|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|xapp-|AIza|eyJ|hf_|npm_|gsk_|pypi-|ya29\.)[a-z0-9._-]{12,}`,
		`()\b(?-i:AKIA|ASIA)[0-9A-Z]{12,}`,
	}
	compiled := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		compiled[i] = regexp.MustCompile(`(?i)` + p)
	}
	return compiled
})

// redact takes secrets out of a text that is kept for later readers.
func redact(text string) string {
	for _, secret := range secrets() {
		text = secret.ReplaceAllString(text, "${1}[redacted]${2}")
	}
	return text
}
