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
	// StateDir is where this agent keeps its settings, keys and history. All of
	// it is sensitive, whatever it is called.
	StateDir string
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
	r, err := a.rule(ctx, access, ws, mode)
	if err != nil {
		return GrantDenied, fmt.Errorf("%s: %w", call.Tool, err)
	}
	if !r.asks {
		return r.grant, nil
	}
	allowed, err := a.ask(ctx, call, r)
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
	r := askOnce(reason)
	if folders = slices.Compact(folders); len(folders) == 1 && folders[0] != filepath.Dir(folders[0]) {
		r.allow = fmt.Sprintf("Allow reading %s in this session", folders[0])
		r.keep = func(context.Context, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.readFolders = append(a.readFolders, folders[0])
		}
	}
	return r
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
	return slices.ContainsFunc(paths, func(p string) bool {
		return Sensitive(p, a.policy.Home) || a.policy.StateDir != "" && withinResolved(p, a.policy.StateDir)
	})
}

// ruleEdits asks unless the mode, or the person for this session, allows edits
// of every one of the files.
func (a *Approvals) ruleEdits(edits []EditProposal, ws *Workspace, mode Mode) ruling {
	if len(edits) == 0 {
		return granted(GrantNotNeeded)
	}
	inside := true
	for _, path := range pathsOf(edits) {
		target, err := ResolveLinks(path)
		if err != nil {
			return askOnce(err.Error())
		}
		if a.sensitive(path, target) {
			return askOnce("sensitive file " + path)
		}
		inside = inside && a.inWorkspace(target, ws)
	}
	for _, edit := range edits {
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

// pathsOf returns every path that edits name, each once.
func pathsOf(edits []EditProposal) []string {
	var paths []string
	for _, edit := range edits {
		paths = append(paths, edit.Path, edit.Target)
		paths = append(paths, edit.Paths...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
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
