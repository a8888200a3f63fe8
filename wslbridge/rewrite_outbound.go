package wslbridge

import "github.com/hermes-acp/hermes-acp/pathxlate"

// leave translates what the agent sent.
func (r *Rewriter) leave(frame []byte, v view) {
	p := &r.outbound
	path := func(text string) (string, bool) { return r.leavePath(v, text) }
	uri := func(text string) (string, bool) { return r.leaveURI(v, text) }
	for _, f := range p.fields {
		switch {
		case f.kind == kindAuthMethod:
			p.edits = r.appendAuthMethodEdits(p.edits, frame, f.at)
		case v.posix():
		case f.kind == kindPath:
			p.translate(frame, f, v.generation, path)
		case f.kind == kindURI:
			p.translate(frame, f, v.generation, uri)
		}
	}
}

// leavePath returns the path that the client is shown. A path in a Windows form stays, and so does
// what has no Windows name.
func (r *Rewriter) leavePath(v view, path string) (string, bool) {
	if pathxlate.FormOf(path).IsWindows() {
		return "", false
	}
	shown, err := v.roots.Outbound(v.translator, path)
	if err != nil {
		r.log.Warn("a path of the agent has no Windows name", "error", err)
		return "", false
	}
	return shown, true
}

// leaveURI is leavePath for a URI or a bare Linux path. URIs of other schemes stay.
func (r *Rewriter) leaveURI(v view, uri string) (string, bool) {
	form := pathxlate.FormOf(uri)
	if form != pathxlate.FormFileURI && form != pathxlate.FormRemoteURI && form != pathxlate.FormPOSIX {
		return "", false
	}
	shown, err := v.roots.OutboundURI(v.translator, uri)
	if err != nil {
		r.log.Warn("a URI of the agent has no Windows name", "error", err)
		return "", false
	}
	return shown, true
}
