package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is a lasting answer for one exact command, or for one external tool, in
// one folder. It covers nothing else: not the command with other words, not as
// part of a line that does more, not in another folder.
type Rule struct {
	// ID is given by the store, for listing and revoking.
	ID int64
	// Dir is the folder in which the command runs (the session's cwd for an
	// external tool), absolute, links resolved.
	Dir string
	// Words are the command's exact words; nil for an external tool.
	Words []string
	// External is the external tool's name; empty for a command.
	External string
	Allow    bool
}

// Subject is what the rule is about, as a person would type it.
func (r Rule) Subject() string {
	if r.External != "" {
		return r.External
	}
	return quoteWords(r.Words)
}

// Rules keeps rules.
type Rules interface {
	// Rules returns the rules of one folder.
	Rules(ctx context.Context, dir string) ([]Rule, error)
	// AddRule stores a rule; it replaces one for the same command or tool in
	// the same folder.
	AddRule(ctx context.Context, rule Rule) error
}

// ruleCommand asks unless every simple command of a plain line is on the safe
// list or allowed by a rule.
func (a *Approvals) ruleCommand(ctx context.Context, cmd *Command) (ruling, error) {
	if cmd.Verdict == VerdictNever {
		return ruling{}, fmt.Errorf("%s: %w", cmd.Reason, ErrHardline)
	}
	ruled := make([]bool, len(cmd.Calls))
	for i, call := range cmd.Calls {
		allow, found := a.find(ctx, Rule{Dir: call.Dir, Words: call.Words})
		if found && !allow {
			return ruling{}, fmt.Errorf("%s: %w", quoteWords(call.Words), ErrRuleDenies)
		}
		ruled[i] = allow
	}

	if cmd.Verdict == VerdictSafe {
		return granted(GrantSafeList), nil
	}
	if path := a.deniedEditIn(cmd); path != "" {
		return askOnce("an edit of " + path + " was not allowed before, and this command names it"), nil
	}
	if path := a.sensitiveIn(cmd); path != "" {
		return askOnce(joinReasons(cmd.Reason, "names the sensitive path "+path)), nil
	}
	asking := askingCalls(cmd.Calls, ruled)
	if cmd.Plain && !cmd.Dangerous && len(asking) == 0 && len(cmd.Calls) > 0 {
		return granted(GrantRule), nil
	}
	r := askOnce(cmd.Reason)
	if a.policy.Rules == nil || len(asking) == 0 {
		return r, nil
	}
	if cmd.Plain && !cmd.Dangerous {
		r.allow = "Always allow " + nameCalls(asking)
	}
	if len(asking) == 1 {
		r.deny = "Never allow " + nameCalls(asking)
	}
	r.keep = func(ctx context.Context, allow bool) {
		for _, call := range asking {
			a.add(ctx, Rule{Dir: call.Dir, Words: call.Words, Allow: allow})
		}
	}
	return r, nil
}

// nameCalls names commands in an option. The question itself shows long ones.
func nameCalls(calls []SimpleCommand) string {
	const longest = 100
	names := make([]string, len(calls))
	for i, call := range calls {
		names[i] = "`" + quoteWords(call.Words) + "`"
	}
	switch name := strings.Join(names, " and "); {
	case len(name) <= longest:
		return name
	case len(calls) == 1:
		return "this exact command"
	}
	return "these exact commands"
}

// askingCalls returns the calls that neither the safe list nor a rule allows.
func askingCalls(calls []SimpleCommand, ruled []bool) []SimpleCommand {
	var asking []SimpleCommand
	for i, call := range calls {
		if !call.Safe && !ruled[i] {
			asking = append(asking, call)
		}
	}
	return asking
}

// deniedEditIn returns a file whose edit was denied and that the line names,
// however it names it: the base name is enough.
func (a *Approvals) deniedEditIn(cmd *Command) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	writes := resolveAll(cmd.Writes)
	for target := range a.deniedEdits {
		if slices.Contains(writes, target) || namesFile(cmd.Line, filepath.Base(target)) {
			return target
		}
	}
	return ""
}

// resolveAll resolves the paths that can be resolved.
func resolveAll(paths []string) []string {
	var targets []string
	for _, path := range paths {
		if target, err := ResolveLinks(path); err == nil {
			targets = append(targets, target)
		}
	}
	return targets
}

// namesFile reports whether name stands in line as a name of its own.
func namesFile(line, name string) bool {
	isPart := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.'
	}
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(line[:at+i])
		at += i + len(name)
		after, _ := utf8.DecodeRuneInString(line[at:])
		if !isPart(before) && !isPart(after) {
			return true
		}
	}
}

// sensitiveIn returns a sensitive path that the line writes or names as an
// argument of one of its commands.
func (a *Approvals) sensitiveIn(cmd *Command) string {
	for _, path := range cmd.Writes {
		if a.namesSensitive(path) {
			return path
		}
	}
	for _, call := range cmd.Calls {
		for i, word := range call.Words {
			if i == 0 || strings.ContainsAny(word, " \n\x00") {
				continue
			}
			if a.namesSensitive(a.pathOfWord(word, call.Dir)) {
				return word
			}
		}
	}
	return ""
}

// namesSensitive reports whether a word, taken as a path, is sensitive. What
// cannot be resolved is judged by its spelling.
func (a *Approvals) namesSensitive(path string) bool {
	target, err := ResolveLinks(path)
	if err != nil {
		target = path
	}
	if _, err := os.Lstat(target); err != nil {
		// HEAD~1 is a revision of git: the short name of a file would be there.
		path, target = strings.ReplaceAll(path, "~", "_"), strings.ReplaceAll(target, "~", "_")
	}
	return a.sensitive(path, target)
}

// pathOfWord makes the path that an argument names absolute; of `of=file` and
// `--file=path` it is the part after the sign.
func (a *Approvals) pathOfWord(word, dir string) string {
	if _, value, ok := strings.Cut(word, "="); ok {
		word = value
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		dir, word = a.policy.Home, rest
	}
	if filepath.IsAbs(word) {
		return word
	}
	return dir + string(filepath.Separator) + word // links decide what .. means
}

// ruleExternal asks unless a rule allows the tool in the session's folder.
func (a *Approvals) ruleExternal(ctx context.Context, name string, ws *Workspace) (ruling, error) {
	rule := Rule{Dir: ws.Cwd, External: name}
	if allow, found := a.find(ctx, rule); found && !allow {
		return ruling{}, fmt.Errorf("%s: %w", name, ErrRuleDenies)
	} else if found {
		return granted(GrantRule), nil
	}
	r := askOnce("")
	if a.policy.Rules != nil {
		r.allow, r.deny = "Always allow "+name, "Never allow "+name
		r.keep = func(ctx context.Context, allow bool) {
			rule.Allow = allow
			a.add(ctx, rule)
		}
	}
	return r, nil
}

// find looks for the rule with the folder and the subject of want. Rules that
// cannot be read allow nothing, so that the call asks.
func (a *Approvals) find(ctx context.Context, want Rule) (allow, found bool) {
	if a.policy.Rules == nil {
		return false, false
	}
	dir, err := ResolveLinks(want.Dir)
	if err != nil {
		return false, false
	}
	rules, err := a.policy.Rules.Rules(ctx, dir)
	if err != nil {
		a.policy.Log.WarnContext(ctx, "approval rules cannot be read", "error", err)
		return false, false
	}
	for _, rule := range rules {
		if rule.External == want.External && slices.Equal(rule.Words, want.Words) {
			return rule.Allow, true
		}
	}
	return false, false
}

func (a *Approvals) add(ctx context.Context, rule Rule) {
	dir, err := ResolveLinks(rule.Dir)
	if err == nil {
		rule.Dir = dir
		err = a.policy.Rules.AddRule(ctx, rule)
	}
	if err != nil {
		a.policy.Log.WarnContext(ctx, "approval rule was not stored", "error", err)
	}
}

// quoteWords writes words as a person would type them. Control characters are
// shown as escapes, so that a word cannot pass for more than it is.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsControl) {
			word = "$'" + strings.ReplaceAll(strings.Trim(strconv.Quote(word), `"`), "'", `\'`) + "'"
		} else if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`|&;<>()*?[]#~!{}") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
