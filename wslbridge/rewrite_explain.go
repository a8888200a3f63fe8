package wslbridge

import (
	"errors"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// FieldReport says what the rewrite stage does with one field of a frame.
type FieldReport struct {
	Pointer string // JSON pointer (RFC 6901)
	Rule    string // how Result came about
	Result  string // what arrives: the text of a string, JSON of another value
	Err     error  // why the field stays as it is, or why the frame is refused
	Refused bool   // the bridge answers the frame itself
}

// Rules beside those of pathxlate.
const (
	ruleRoot          = "root"            // put back as the client spelled its folder
	ruleLinuxClient   = "linux-client"    // stays, since the client spells paths as Linux does
	ruleLostSlashes   = "lost-slashes"    // a path of Linux with backslashes
	ruleMCPServer     = "mcp-server"      // made one that starts inside WSL
	ruleTerminals     = "client-terminal" // the client's terminals are of no use to the agent
	ruleTerminalLogin = "terminal-login"  // led through the launcher
)

// Explain does what Inbound or Outbound does with a frame and reports on each of its fields. A response
// to a request that has not passed is taken for the one that its fields fit.
func (r *Rewriter) Explain(frame []byte) ([]FieldReport, error) {
	h, ok := readHead(frame)
	if !ok {
		return nil, errors.New("read frame: not a JSON object")
	}
	if s := shapeOf(clientParams, h.method); s != nil {
		before := appendFields(nil, frame, "params", s)
		out, reply := r.Inbound(frame)
		if reply != nil {
			out = frame
		}
		after := appendFields(nil, out, "params", s)
		return r.reports(frame, before, out, after, true, reply != nil), nil
	}
	part, s := "params", shapeOf(agentParams, h.method)
	if h.method == nil {
		part, s = "result", resultShape(frame)
	}
	if s == nil {
		return nil, nil
	}
	if h.method == nil {
		r.ask(frame, h, s)
	}
	before := appendFields(nil, frame, part, s)
	out := r.Outbound(frame)
	return r.reports(frame, before, out, appendFields(nil, out, part, s), false, false), nil
}

// resultShape returns the shape of the result that has fields in a response, nil when none has.
func resultShape(frame []byte) *shape {
	for _, m := range agentResults {
		if len(appendFields(nil, frame, "result", m.shape)) > 0 {
			return m.shape
		}
	}
	return nil
}

// reports pairs the fields of a frame with the same ones of what it became.
func (r *Rewriter) reports(frame []byte, before []field, out []byte, after []field, inbound, refused bool) []FieldReport {
	var reports []FieldReport
	for i, f := range before {
		if f.kind == kindAuthMethod && shown(frame, before, i) == shown(out, after, i) {
			continue // no login in a terminal, or our own
		}
		report := FieldReport{Pointer: pointerOf(frame, f.at.start), Result: shown(out, after, i)}
		switch f.kind {
		case kindMCPServer:
			report.Rule = ruleMCPServer
		case kindCanTerminal:
			report.Rule, report.Result = ruleTerminals, "false"
		case kindAuthMethod:
			report.Rule = ruleTerminalLogin
		case kindNone, kindPath, kindURI, kindCwd, kindRoot, kindListFilter:
			r.explainText(&report, f, shown(frame, before, i), inbound)
			report.Refused = refused && f.kind.isFolder() && report.Err != nil
		}
		reports = append(reports, report)
	}
	return reports
}

// shown returns the text of a string, and other values as they stand.
func shown(frame []byte, fields []field, i int) string {
	if i >= len(fields) {
		return ""
	}
	if at := fields[i].at; isString(frame, at) {
		return string(unquote(at.in(frame)))
	}
	return string(fields[i].at.in(frame))
}

// explainText says why a text became the report's result.
func (r *Rewriter) explainText(report *FieldReport, f field, text string, inbound bool) {
	v, _ := r.current()
	e := v.translator.Explain(translationOf(f.kind, inbound), text)
	report.Rule = string(e.Rule)
	switch {
	case e.Err != nil && report.Result == text:
		report.Err = e.Err
	case e.Err != nil:
		report.Rule = ruleLostSlashes
	case inbound || report.Result == e.Result:
	case report.Result == text:
		report.Rule = ruleLinuxClient
	default:
		report.Rule = ruleRoot
	}
}

func translationOf(k kind, inbound bool) pathxlate.Op {
	switch {
	case inbound && k == kindURI:
		return pathxlate.OpURIToLinux
	case inbound:
		return pathxlate.OpToLinux
	case k == kindURI:
		return pathxlate.OpURIToWindows
	}
	return pathxlate.OpToWindows
}
