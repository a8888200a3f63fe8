package wslbridge

import (
	"errors"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// enterFolders translates the folders that a request names, remembers how the client spells them, and
// returns the session's. When one cannot cross it returns the answer to the request instead.
func (r *Rewriter) enterFolders(frame []byte, h head) (cwd string, reply []byte) {
	p := &r.inbound
	posix := r.hearFolders(frame)
	var roots []rootSpelling
	for _, f := range p.fields {
		if !f.kind.isFolder() {
			continue
		}
		spelling := string(unquote(f.at.in(frame)))
		linux, err := r.enterFolder(spelling, posix)
		if err != nil && h.id.end == 0 { // nobody waits for an answer
			continue
		}
		if err != nil {
			r.log.Warn("a folder cannot be used inside WSL", "method", string(h.method), "error", err)
			return "", refusal(frame, h, f, err)
		}
		form := pathxlate.FormOf(spelling)
		if form != pathxlate.FormPOSIX {
			p.replace(f.at, quoted(linux))
		}
		if form == pathxlate.FormRooted {
			spelling = linux
		}
		if f.kind == kindCwd {
			cwd = linux
		}
		roots = append(roots, rootSpelling{spelling, linux})
	}
	r.rememberRoots(roots)
	return cwd, nil
}

// hearFolders notes how the client spells the folders of a request, and reports whether it counts as
// a client of Linux.
func (r *Rewriter) hearFolders(frame []byte) (posix bool) {
	for _, f := range r.inbound.fields {
		if f.kind.isFolder() {
			text := string(unquote(f.at.in(frame)))
			r.hear(text)
			posix = posix || pathxlate.FormOf(text) == pathxlate.FormPOSIX
		}
	}
	v, _ := r.current()
	return v.posix() || posix && !v.windows
}

// enterFolder translates a folder of a session. From a client of Linux, a path such as \home\me is one
// that lost its slashes (zed#50910).
func (r *Rewriter) enterFolder(path string, posix bool) (string, error) {
	if posix && pathxlate.FormOf(path) == pathxlate.FormRooted {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	return r.enter(path, pathxlate.Translator.ToLinux)
}

// enterOthers translates what else the client sent. Nothing of it can make the request fail.
func (r *Rewriter) enterOthers(frame []byte, cwd string) {
	p := &r.inbound
	for _, f := range p.fields {
		switch f.kind {
		case kindURI:
			v, _ := r.current()
			p.translate(frame, f, v.generation, r.enterURI)
		case kindCanTerminal:
			if !r.cfg.Dormant {
				p.replace(f.at, []byte("false"))
			}
		case kindMCPServer:
			p.edits = r.appendMCPServerEdits(p.edits, frame, f.at, cwd)
		case kindNone, kindPath, kindCwd, kindRoot, kindListFilter, kindAuthMethod:
		}
	}
}

// enterURI translates a URI or a bare Windows path (hermes-agent#43867). What names a file of Linux, or
// no file of this machine, stays.
func (r *Rewriter) enterURI(uri string) (string, bool) {
	form := pathxlate.FormOf(uri)
	if form != pathxlate.FormFileURI && form != pathxlate.FormRemoteURI && !form.IsWindows() {
		return "", false
	}
	linux, err := r.enter(uri, pathxlate.Translator.URIToLinux)
	if err != nil {
		r.log.Warn("an attachment cannot be reached inside WSL", "error", err)
		return "", false
	}
	r.hear(uri)
	v, _ := r.current()
	return linux, isWindowsSpelling(v.translator, uri)
}

// enter translates what the client sent. A drive that is not mounted may have been since the mounts
// were read.
func (r *Rewriter) enter(text string, translate func(pathxlate.Translator, string) (string, error)) (string, error) {
	v, _ := r.current()
	linux, err := translate(v.translator, text)
	if errors.Is(err, pathxlate.ErrDriveNotMounted) || errors.Is(err, pathxlate.ErrUNCNotMounted) {
		linux, err = translate(r.readMounts().translator, text)
	}
	return linux, err
}

// hear notes whether the client spells paths as only Windows does.
func (r *Rewriter) hear(text string) {
	v, _ := r.current()
	if v.windows || !isWindowsSpelling(v.translator, text) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view.windows = true
	r.view.generation++
}

// isWindowsSpelling reports whether nobody on Linux spells a path or URI so. \home\me counts as a
// path that lost its slashes.
func isWindowsSpelling(t pathxlate.Translator, text string) bool {
	form := pathxlate.FormOf(text)
	if form == pathxlate.FormFileURI {
		e := t.Explain(pathxlate.OpURIToLinux, text)
		return e.Err == nil && e.Rule != pathxlate.RuleLinuxPath
	}
	return form == pathxlate.FormRemoteURI || form.IsWindows() && form != pathxlate.FormRooted
}

// refusal answers a request whose folder f cannot cross: session/list with no sessions, others with
// JSON-RPC's "invalid params", which names the path, the reason and the remedy.
func refusal(frame []byte, h head, f field, err error) []byte {
	reply := append([]byte(`{"jsonrpc":"2.0","id":`), h.id.in(frame)...)
	if f.kind == kindListFilter {
		return append(reply, `,"result":{"sessions":[]}}`...)
	}
	pointer := pointerOf(frame, f.at.start)
	spelling := strings.ToValidUTF8(string(unquote(f.at.in(frame))), "\uFFFD")
	message := strings.TrimPrefix(pointer, "/params/") + ": " + spelling + ": " + reasonOf(err)
	reply = append(reply, `,"error":{"code":-32602,"message":`...)
	reply = appendQuoted(reply, message)
	reply = append(reply, `,"data":{"field":`...)
	reply = appendQuoted(reply, pointer)
	reply = append(reply, `,"path":`...)
	reply = appendQuoted(reply, spelling)
	reply = append(reply, `,"reason":`...)
	reply = appendQuoted(reply, pathxlate.ErrName(err))
	return append(reply, "}}}"...)
}

// reasonOf returns the reason and the remedy of a failed translation.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*pathxlate.Error](err); ok {
		return e.Err.Error() + ": " + e.Remedy
	}
	return err.Error()
}
