package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRules are the .gitignore and .ignore files that hold for a folder: its
// own and those of the folders above it.
type ignoreRules struct {
	parent *ignoreRules
	dir    string // with a separator at its end
	rules  []ignoreRule
}

// ignoreRule is one line of an ignore file.
type ignoreRule struct {
	pattern  string
	kind     ignoreKind
	negated  bool // the line starts with !
	dirsOnly bool // the line ends with /
}

type ignoreKind int

const (
	ignoreName   ignoreKind = iota // the name is the pattern
	ignoreSuffix                   // the name ends with the pattern: *.o
	ignoreGlob                     // the name matches
	ignorePath                     // the path from the rules' folder matches
)

// ignoreRulesAbove returns the rules that hold for dir from the folders above
// it, up to the root of its Git repository.
func ignoreRulesAbove(dir string) *ignoreRules {
	var above []string
	for at := dir; !isRepositoryRoot(at); {
		up := filepath.Dir(at)
		if up == at {
			return nil // no repository
		}
		at = up
		above = append(above, at)
	}
	var rules *ignoreRules
	for _, a := range slices.Backward(above) {
		rules = rules.below(a)
	}
	return rules
}

func isRepositoryRoot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// below returns the rules for dir, which is below the folder of r.
func (r *ignoreRules) below(dir string) *ignoreRules {
	own := &ignoreRules{parent: r, dir: dir + string(filepath.Separator)}
	for _, name := range []string{".git/info/exclude", ".gitignore", ".ignore"} {
		text := readForSearch(filepath.Join(dir, name), nil) // a link is not followed, as in git
		own.rules = append(own.rules, parseIgnore(string(text))...)
	}
	if len(own.rules) == 0 {
		return r
	}
	return own
}

// ignores reports whether the file or folder at path is ignored. The last rule
// of the nearest file that matches decides.
func (r *ignoreRules) ignores(path, name string, isDir bool) bool {
	for ; r != nil; r = r.parent {
		for i := len(r.rules) - 1; i >= 0; i-- {
			rule := &r.rules[i]
			if (isDir || !rule.dirsOnly) && rule.matches(path[len(r.dir):], name) {
				return !rule.negated
			}
		}
	}
	return false
}

func (rule *ignoreRule) matches(rel, name string) bool {
	switch rule.kind {
	case ignoreName:
		return name == rule.pattern
	case ignoreSuffix:
		return strings.HasSuffix(name, rule.pattern)
	case ignoreGlob:
		return doublestar.MatchUnvalidated(rule.pattern, name)
	case ignorePath:
		return doublestar.MatchUnvalidated(rule.pattern, filepath.ToSlash(rel))
	}
	return false
}

// parseIgnore parses the text of an ignore file (gitignore(5)).
func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		var rule ignoreRule
		line, rule.negated = strings.CutPrefix(line, "!")
		line, rule.dirsOnly = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		anchored := strings.Contains(line, "/")
		rule.pattern = strings.TrimPrefix(line, "/")
		rest, isSuffix := strings.CutPrefix(rule.pattern, "*")
		switch {
		case anchored:
			rule.kind = ignorePath
		case !strings.ContainsAny(rule.pattern, `*?[\`):
			rule.kind = ignoreName
		case isSuffix && !strings.ContainsAny(rest, `*?[\`):
			rule.kind, rule.pattern = ignoreSuffix, rest
		default:
			rule.kind = ignoreGlob
		}
		if rule.kind == ignoreGlob || rule.kind == ignorePath {
			// Braces are plain characters here, unlike in doublestar.
			rule.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(rule.pattern)
			if !doublestar.ValidatePattern(rule.pattern) {
				continue
			}
		}
		rules = append(rules, rule)
	}
	return rules
}
