package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Policy is what decides, in every session, which calls ask.
type Policy struct {
	// Timeout is how long a question waits for its answer; 0 is 300 seconds.
	Timeout time.Duration
	// Rules keeps the person's lasting answers. Nil offers none.
	Rules Rules
	// Home is the person's home folder.
	Home string
	// TempDirs count as part of every workspace.
	TempDirs []string
	// FreeReads are folders outside the workspace that hold no secrets and may
	// be read without a question: /usr, /opt, module caches.
	FreeReads []string
	Log       *slog.Logger
}

const defaultApprovalTimeout = 300 * time.Second

// Approvals gives leave to the calls of one session. It holds the answers that
// last as long as the session. Its methods are safe for concurrent use.
type Approvals struct {
	policy Policy

	mu           sync.Mutex
	editsAllowed bool            // inside the workspace and temp
	readFolders  []string        // outside folders that may be read
	deniedEdits  map[string]bool // targets whose last proposal got no leave
}

// NewApprovals returns the approvals of a new session.
func NewApprovals(policy Policy) *Approvals {
	if policy.Timeout == 0 {
		policy.Timeout = defaultApprovalTimeout
	}
	if policy.Log == nil {
		policy.Log = slog.New(slog.DiscardHandler)
	}
	return &Approvals{policy: policy, deniedEdits: map[string]bool{}}
}

// Allow gives or refuses leave for an announced call, after asking the person of
// the turn that ctx belongs to where the policy says so. Its error goes to the
// model and wraps one of the Err causes of this package, or the context's cause
// when the turn ended meanwhile.
func (a *Approvals) Allow(ctx context.Context, call CallInfo, ws *Workspace, mode Mode) (Grant, error) {
	access := call.Access
	if mode == ModePlan && (len(access.Edits) > 0 || access.Command != nil || access.External != "") {
		return GrantDenied, fmt.Errorf("%s: %w", call.Tool, ErrPlanMode)
	}
	ruling, err := a.rule(ctx, access, ws, mode)
	if err != nil {
		return GrantDenied, fmt.Errorf("%s: %w", call.Tool, err)
	}
	if !ruling.asks {
		return ruling.grant, nil
	}
	allowed, err := a.ask(ctx, call, ruling)
	a.remember(access.Edits, allowed)
	if err != nil {
		return GrantDenied, fmt.Errorf("%s: %w", call.Tool, err)
	}
	return GrantPerson, nil
}

// ruling is what the policy says of a call before anyone is asked.
type ruling struct {
	grant  Grant // what allows it, when it does not ask
	asks   bool
	reason string
	// allow and deny name the lasting answers; empty is not offered. keep
	// stores the one that was chosen.
	allow, deny string
	keep        func(ctx context.Context, allow bool)
}

func granted(g Grant) ruling { return ruling{grant: g} }

// askOnce is a ruling that offers no lasting answer.
func askOnce(reason string) ruling { return ruling{asks: true, reason: reason} }

// rule joins the rulings on every part of a call: it is allowed when each part
// is, and a lasting answer is offered only when one part alone asks.
func (a *Approvals) rule(ctx context.Context, access Access, ws *Workspace, mode Mode) (ruling, error) {
	parts := []ruling{a.ruleReads(access.Reads, ws), a.ruleEdits(access.Edits, ws, mode)}
	if access.Command != nil {
		command, err := a.ruleCommand(ctx, access.Command)
		if err != nil {
			return ruling{}, err
		}
		parts = append(parts, command)
	}
	if access.External != "" {
		external, err := a.ruleExternal(ctx, access.External, ws)
		if err != nil {
			return ruling{}, err
		}
		parts = append(parts, external)
	}

	joined := granted(GrantNotNeeded)
	for _, part := range parts {
		switch {
		case part.asks && joined.asks:
			joined = askOnce(joinReasons(joined.reason, part.reason))
		case part.asks:
			joined = part
		case !joined.asks && part.grant != GrantNotNeeded:
			joined.grant = part.grant
		}
	}
	return joined, nil
}

func joinReasons(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// ruleReads asks for sensitive files and for everything outside the workspace.
func (a *Approvals) ruleReads(paths []string, ws *Workspace) ruling {
	var folders []string
	reason := ""
	for _, path := range paths {
		target, err := ResolveLinks(path)
		if err != nil {
			return askOnce(err.Error())
		}
		if a.sensitive(path, target) {
			return askOnce("sensitive file " + path)
		}
		if !a.mayRead(target, ws) {
			reason = "reads outside the workspace: " + target
			folders = append(folders, folderOf(target))
		}
	}
	if len(folders) == 0 {
		return granted(GrantNotNeeded)
	}
	ruling := askOnce(reason)
	if folders = slices.Compact(folders); len(folders) == 1 {
		ruling.allow = fmt.Sprintf("Allow reading %s in this session", folders[0])
		ruling.keep = func(context.Context, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.readFolders = append(a.readFolders, folders[0])
		}
	}
	return ruling
}

func folderOf(target string) string {
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return target
	}
	return filepath.Dir(target)
}

func (a *Approvals) mayRead(target string, ws *Workspace) bool {
	a.mu.Lock()
	folders := slices.Concat(a.readFolders, a.policy.FreeReads)
	a.mu.Unlock()
	return a.inWorkspace(target, ws) || slices.ContainsFunc(folders, func(dir string) bool {
		return withinResolved(target, dir)
	})
}

// inWorkspace reports whether target is below a root of ws or below temp.
func (a *Approvals) inWorkspace(target string, ws *Workspace) bool {
	return ws.Contains(target) || slices.ContainsFunc(a.policy.TempDirs, func(dir string) bool {
		return withinResolved(target, dir)
	})
}

func withinResolved(target, dir string) bool {
	resolved, err := ResolveLinks(dir)
	return err == nil && within(target, resolved)
}

func (a *Approvals) sensitive(paths ...string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return Sensitive(p, a.policy.Home) })
}

// ruleEdits asks unless the mode, or the person for this session, allows edits
// of every one of the files.
func (a *Approvals) ruleEdits(edits []EditProposal, ws *Workspace, mode Mode) ruling {
	if len(edits) == 0 {
		return granted(GrantNotNeeded)
	}
	inside := true
	for _, edit := range edits {
		for _, path := range append([]string{edit.Path, edit.Target}, edit.Paths...) {
			target, err := ResolveLinks(path)
			if err != nil {
				return askOnce(err.Error())
			}
			if a.sensitive(path, target) {
				return askOnce("sensitive file " + path)
			}
			inside = inside && a.inWorkspace(target, ws)
		}
		if a.wasDenied(edit.Target) {
			return askOnce("an earlier edit of " + edit.Path + " was not allowed")
		}
	}

	a.mu.Lock()
	editsAllowed := a.editsAllowed
	a.mu.Unlock()
	switch {
	case mode == ModeDontAsk, mode == ModeAcceptEdits && inside:
		return granted(GrantMode)
	case editsAllowed && inside:
		return granted(GrantPerson)
	case !inside:
		return askOnce("outside the workspace")
	}
	return ruling{asks: true, allow: "Allow edits in this session", keep: func(context.Context, bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.editsAllowed = true
	}}
}

func (a *Approvals) wasDenied(target string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deniedEdits[target]
}

// remember notes which edits got leave, so that a denied one cannot come back
// by another way.
func (a *Approvals) remember(edits []EditProposal, allowed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, edit := range edits {
		if allowed {
			delete(a.deniedEdits, edit.Target)
		} else {
			a.deniedEdits[edit.Target] = true
		}
	}
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
	names := make([]string, len(asking))
	for i, call := range asking {
		names[i] = "`" + quoteWords(call.Words) + "`"
	}
	if cmd.Plain && !cmd.Dangerous {
		r.allow = "Always allow " + strings.Join(names, " and ")
	}
	if len(asking) == 1 {
		r.deny = "Never allow " + names[0]
	}
	r.keep = func(ctx context.Context, allow bool) {
		for _, call := range asking {
			a.add(ctx, Rule{Dir: call.Dir, Words: call.Words, Allow: allow})
		}
	}
	return r, nil
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
	for target := range a.deniedEdits {
		if slices.Contains(cmd.Writes, target) || strings.Contains(cmd.Line, filepath.Base(target)) {
			return target
		}
	}
	return ""
}

// sensitiveIn returns a sensitive path that the line writes or names as an
// argument of one of its commands.
func (a *Approvals) sensitiveIn(cmd *Command) string {
	for _, path := range cmd.Writes {
		if target, err := ResolveLinks(path); err != nil || a.sensitive(path, target) {
			return path
		}
	}
	for _, call := range cmd.Calls {
		for i, word := range call.Words {
			if i == 0 || strings.ContainsAny(word, " \n\x00") {
				continue
			}
			path := a.pathOfWord(word, call.Dir)
			if target, err := ResolveLinks(path); err != nil || a.sensitive(path, target) {
				return word
			}
		}
	}
	return ""
}

// pathOfWord makes the path that an argument names absolute; of `of=file` and
// `--file=path` it is the part after the sign.
func (a *Approvals) pathOfWord(word, dir string) string {
	if _, value, ok := strings.Cut(word, "="); ok {
		word = value
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		return filepath.Join(a.policy.Home, rest)
	}
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(dir, word)
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

// ask puts the question to the turn's person and carries out the answer.
func (a *Approvals) ask(ctx context.Context, call CallInfo, r ruling) (allowed bool, err error) {
	approver := approverFrom(ctx)
	if approver == nil {
		return false, ErrNoApprover
	}
	if approver.unanswered.Load() {
		return false, fmt.Errorf("an earlier request of this turn got no answer, so this one was not asked: %w", ErrApprovalTimeout)
	}
	req := PermissionRequest{
		CallID: call.ID, Title: call.Title, Kind: call.Kind,
		Reason: r.reason, Access: call.Access, Options: r.options(),
	}
	askCtx, cancel := context.WithTimeoutCause(ctx, a.policy.Timeout, ErrApprovalTimeout)
	defer cancel()
	id, err := approver.Ask(askCtx, req)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil && errors.Is(context.Cause(askCtx), ErrApprovalTimeout):
		approver.unanswered.Store(true)
		return false, fmt.Errorf("waited %s: %w", a.policy.Timeout, ErrApprovalTimeout)
	case err != nil:
		return false, err
	}

	chosen := slices.IndexFunc(req.Options, func(o Option) bool { return o.ID == id })
	if chosen < 0 {
		return false, fmt.Errorf("the client answered %q, which was not among the options %s: %w", id, optionIDs(req.Options), ErrUnknownOption)
	}
	switch req.Options[chosen].Kind {
	case AllowOnce:
		return true, nil
	case AllowAlways:
		r.keep(ctx, true)
		return true, nil
	case RejectAlways:
		r.keep(ctx, false)
	case RejectOnce:
	}
	return false, ErrDenied
}

// options are the answers to offer, at most one of a kind, since some clients
// show only one.
func (r ruling) options() []Option {
	options := []Option{{ID: optionAllowOnce, Name: "Allow once", Kind: AllowOnce}}
	if r.allow != "" {
		options = append(options, Option{ID: optionAllowAlways, Name: r.allow, Kind: AllowAlways})
	}
	options = append(options, Option{ID: optionDeny, Name: "Deny", Kind: RejectOnce})
	if r.deny != "" {
		options = append(options, Option{ID: optionDenyAlways, Name: r.deny, Kind: RejectAlways})
	}
	return options
}

func optionIDs(options []Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return strings.Join(ids, ", ")
}

// quoteWords writes words as a person would type them.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`|&;<>()*?[]#~!{}") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
