package wslbridge

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// RewriteConfig says between which Windows and which Linux a [Rewriter] stands.
type RewriteConfig struct {
	Distro string // name of the WSL distro, "" when it is not known

	// Mounts returns the mount table. It is called at the start, and again when a path lies on a
	// drive or share that the table does not have.
	Mounts func() pathxlate.MountTable

	// Drives gives the targets of mapped and SUBST drives by drive letter: "Z" -> `\\server\share`.
	Drives map[string]string

	// LookPath finds a program inside WSL by its name, those on drvfs left out.
	LookPath func(name string) (path string, found bool)

	// WSLENV is the value that the agent inherits.
	WSLENV string

	// ThirdParty says that the agent is not ours, so that the launcher has to be told what is for it.
	ThirdParty bool

	// Launcher is the command line, launcher first, that starts the agent again on Windows.
	Launcher []string

	// Dormant is for an agent that a Windows editor may have started inside WSL by itself: the
	// client counts as one of Linux until it names a path in a Windows form.
	Dormant bool

	Log *slog.Logger // nil discards
}

// Rewriter translates the paths in the JSON-RPC frames between a client on Windows and an agent in
// WSL. It edits raw JSON: what it does not translate is copied byte for byte. What is no JSON object
// passes as it is, for the agent to answer.
//
// Inbound and Outbound may run at the same time as each other, but neither as itself. A frame is one
// JSON value without its line end; what they return is valid until their next call.
type Rewriter struct {
	cfg RewriteConfig
	log *slog.Logger

	inbound, outbound pass // each belongs to one direction

	mu      sync.Mutex // guards all below
	view    view
	asked   []request         // requests of the client whose results have fields, oldest first
	spelled map[string]string // by Linux path, how the client spells the folder
}

// view is by what a frame is translated. It is never changed, only replaced.
type view struct {
	generation int // another one for each view
	translator pathxlate.Translator
	roots      pathxlate.Roots
	dormant    bool // RewriteConfig.Dormant
	hasRoots   bool
	windows    bool // the client has named a path as only Windows spells it
}

// posix reports whether the client counts as one of Linux, which is shown paths as the agent names
// them. Once it has spelled a path as Windows does it never does again, for an editor on Windows may
// well name some folders of WSL as WSL does.
func (v view) posix() bool { return !v.windows && (v.dormant || v.hasRoots) }

// request is a request that has not been answered.
type request struct {
	id     string // as idKey gives it
	result *shape
}

// Bounds of what a Rewriter remembers. Only an agent that answers nothing, or a client that works in
// another folder each time, comes near them.
const (
	maxAsked   = 256
	maxSpelled = 1024
)

// NewRewriter makes a Rewriter. Only Mounts has to be given.
func NewRewriter(cfg RewriteConfig) *Rewriter {
	r := &Rewriter{cfg: cfg, log: cfg.Log, spelled: map[string]string{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.view.dormant = cfg.Dormant
	r.readMounts()
	return r
}

// Inbound translates a frame from the client to the agent. When it returns a reply, the frame is not
// for the agent, and the reply is for the client.
func (r *Rewriter) Inbound(frame []byte) (out, reply []byte) {
	h, ok := readHead(frame)
	if !ok || h.method == nil {
		return frame, nil
	}
	p := &r.inbound
	p.begin()
	if s := shapeOf(clientParams, h.method); s != nil {
		p.fields = appendFields(p.fields, frame, "params", s)
		cwd, reply := r.enterFolders(frame, h)
		if reply != nil {
			return nil, reply
		}
		r.enterOthers(frame, cwd)
	}
	if s := shapeOf(agentResults, h.method); s != nil {
		r.ask(frame, h, s)
	}
	return p.splice(frame), nil
}

// Outbound translates a frame from the agent to the client.
func (r *Rewriter) Outbound(frame []byte) []byte {
	v, waiting := r.current()
	if !waiting && (v.posix() || !mayHaveKey(frame, agentKeys)) {
		return frame
	}
	h, ok := readHead(frame)
	if !ok {
		return frame
	}
	part, s := "params", shapeOf(agentParams, h.method)
	if h.method == nil {
		part, s = "result", r.answered(frame, h)
	}
	if s == nil {
		return frame
	}
	p := &r.outbound
	p.begin()
	p.fields = appendFields(p.fields, frame, part, s)
	r.leave(frame, v)
	return p.splice(frame)
}

// current returns the view, and whether a result is waited for.
func (r *Rewriter) current() (v view, waiting bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view, len(r.asked) > 0
}

// ask remembers a request whose result has fields.
func (r *Rewriter) ask(frame []byte, h head, result *shape) {
	if h.id.end == 0 {
		return
	}
	id := idKey(h.id.in(frame))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asked) == maxAsked {
		r.asked = slices.Delete(r.asked, 0, 1)
	}
	r.asked = append(r.asked, request{id, result})
}

// answered returns the shape of the result in a response, nil when it has no fields.
func (r *Rewriter) answered(frame []byte, h head) *shape {
	if h.id.end == 0 {
		return nil
	}
	id := idKey(h.id.in(frame))
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.asked, func(q request) bool { return q.id == id })
	if i < 0 {
		return nil
	}
	result := r.asked[i].result
	r.asked = slices.Delete(r.asked, i, i+1)
	return result
}

// idKey makes ids comparable that an agent spells another way than the client.
func idKey(raw []byte) string {
	if raw[0] == '"' {
		return `"` + string(unquote(raw))
	}
	return string(raw)
}

// readMounts brings the mount table up to date and returns the new view.
func (r *Rewriter) readMounts() view {
	mounts := r.cfg.Mounts()
	for letter, target := range r.cfg.Drives {
		if letter != "" {
			mounts = mounts.WithDrive(letter[0], target)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view.generation++
	r.view.translator = pathxlate.Translator{Distro: r.cfg.Distro, Mounts: mounts}
	return r.view
}

// rememberRoots notes how the client spells the folders of its sessions.
func (r *Rewriter) rememberRoots(roots []rootSpelling) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, root := range roots {
		if r.spelled[root.linux] == root.spelling {
			continue
		}
		if len(r.spelled) == maxSpelled {
			clear(r.spelled)
			r.view.roots = pathxlate.Roots{}
		}
		r.spelled[root.linux] = root.spelling
		r.view.roots.Add(root.spelling, root.linux)
		r.view.hasRoots = true
		r.view.generation++
	}
}

type rootSpelling struct{ spelling, linux string }
