package acp

import (
	"encoding/json"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// toolCall is the SDK's tool_call with the newer name field. Its Content, like
// that of toolCallUpdate, stands in for the SDK's list of unions, which encodes
// each item several times over; the items are the SDK's variants.
type toolCall struct {
	acpsdk.SessionUpdateToolCall
	Name    string `json:"name,omitempty"`
	Content []any  `json:"content,omitempty"`
}

// toolCallUpdate is the SDK's tool_call_update.
type toolCallUpdate struct {
	acpsdk.SessionToolCallUpdate
	Content []any `json:"content,omitempty"`
}

// textItem is the SDK's ToolCallContentContent for text.
type textItem struct {
	Type    string                  `json:"type"`
	Content acpsdk.ContentBlockText `json:"content"`
}

// callStarted announces a call: what it is, on which files, and the whole change
// of an edit before it is made.
func (u *updates) callStarted(call agent.CallInfo) any {
	update := toolCall{
		SessionUpdateToolCall: acpsdk.SessionUpdateToolCall{
			SessionUpdate: "tool_call",
			ToolCallId:    acpsdk.ToolCallId(call.ID),
			Title:         call.Title,
			Kind:          acpsdk.ToolKind(call.Kind),
			Status:        acpsdk.ToolCallStatusPending,
			Locations:     callLocations(call.Locations, call.Access),
			RawInput:      rawInput(call),
		},
		Name:    call.Tool,
		Content: callContent(call.Access),
	}
	if command := call.Access.Command; command != nil && u.client.terminalOutput {
		update.Content = []any{acpsdk.ToolCallContentTerminal{Type: "terminal", TerminalId: call.ID}}
		update.Meta = map[string]any{"terminal_info": map[string]any{"terminal_id": call.ID, "cwd": command.Dir}}
	}
	return update
}

// callContent shows what a call is going to do: edits as diffs, first, and the
// command it runs.
func callContent(access agent.Access) []any {
	var content []any
	for _, edit := range access.Edits {
		content = append(content, diff(edit))
	}
	if access.Command != nil {
		content = append(content, textContent("$ "+access.Command.Line))
	}
	return content
}

func diff(edit agent.EditProposal) acpsdk.ToolCallContentDiff {
	d := acpsdk.ToolCallContentDiff{Type: "diff", Path: edit.Path, OldText: edit.OldText}
	if edit.NewText != nil {
		d.NewText = *edit.NewText
	}
	return d
}

func textContent(text string) textItem {
	return textItem{Type: "content", Content: acpsdk.ContentBlockText{Type: "text", Text: text}}
}

// callLocations puts the files that a call changes first: some clients take the
// first location for the diff's.
func callLocations(locations []agent.Location, access agent.Access) []acpsdk.ToolCallLocation {
	var converted []acpsdk.ToolCallLocation
	add := func(path string, line int) {
		for _, l := range converted {
			if l.Path == path {
				return
			}
		}
		converted = append(converted, acpsdk.ToolCallLocation{Path: path, Line: positive(line)})
	}
	for _, edit := range access.Edits {
		add(edit.Path, lineIn(locations, edit.Path))
	}
	for _, l := range locations {
		add(l.Path, l.Line)
	}
	return converted
}

func lineIn(locations []agent.Location, path string) int {
	for _, l := range locations {
		if l.Path == path {
			return l.Line
		}
	}
	return 0
}

// rawInput is shown for calls that nothing else describes.
func rawInput(call agent.CallInfo) any {
	switch {
	case call.Access.Command != nil:
		return map[string]string{"command": call.Access.Command.Line}
	case call.Known && call.Access.External == "":
		return nil
	case json.Valid([]byte(call.Arguments)):
		return json.RawMessage(call.Arguments)
	case call.Arguments != "":
		return map[string]string{"raw": call.Arguments}
	default:
		return nil
	}
}

// callUpdate is a tool_call_update with nothing but the status.
func callUpdate(id string, status acpsdk.ToolCallStatus) toolCallUpdate {
	return toolCallUpdate{SessionToolCallUpdate: acpsdk.SessionToolCallUpdate{
		SessionUpdate: "tool_call_update", ToolCallId: acpsdk.ToolCallId(id), Status: &status,
	}}
}

func callRunning(id string) any { return callUpdate(id, acpsdk.ToolCallStatusInProgress) }

// callOutput streams output to clients that append it. The content field would
// have to be sent whole each time.
func (u *updates) callOutput(e agent.CallOutput) any {
	if !u.client.terminalOutput || e.Output == "" {
		return nil
	}
	return acpsdk.SessionToolCallUpdate{
		SessionUpdate: "tool_call_update",
		ToolCallId:    acpsdk.ToolCallId(e.CallID),
		Meta:          map[string]any{"terminal_output": terminalOutput(e.CallID, e.Output)},
	}
}

// callEnded closes a call and shows what came of it.
func (u *updates) callEnded(e agent.CallEnded) any {
	status := acpsdk.ToolCallStatusCompleted
	if e.Err != nil || e.Result.Failed {
		status = acpsdk.ToolCallStatusFailed
	}
	update := callUpdate(e.Call.ID, status)
	if e.Result.Locations != nil {
		update.Locations = callLocations(e.Result.Locations, e.Call.Access)
	}
	if e.Call.Access.Command != nil && u.client.terminalOutput && e.Err == nil {
		update.Meta = map[string]any{"terminal_exit": terminalExit(e.Call.ID, e.Result.Exit)}
		if streamed := u.view.openCalls[e.Call.ID]; !streamed && e.Result.Text != "" {
			update.Meta["terminal_output"] = terminalOutput(e.Call.ID, e.Result.Text)
		}
		return update
	}
	update.Content = endContent(e)
	return update
}

func terminalOutput(id, data string) map[string]any {
	return map[string]any{"terminal_id": id, "data": data}
}

func terminalExit(id string, exit *agent.ExitStatus) map[string]any {
	fields := map[string]any{"terminal_id": id, "exit_code": nil, "signal": nil}
	switch {
	case exit == nil:
	case exit.Signal != "":
		fields["signal"] = exit.Signal
	default:
		fields["exit_code"] = exit.Code
	}
	return fields
}

// endContent replaces what the call's announcement showed: the diff stays, and
// the result or the reason for the failure joins it.
func endContent(e agent.CallEnded) []any {
	content := callContent(e.Call.Access)
	switch {
	case e.Err != nil:
		return append(content, textContent(e.Err.Error()))
	case e.Result.Display != "":
		content = append(content, textContent(truncate(e.Result.Display)))
	case e.Result.Text != "" && (len(e.Call.Access.Edits) == 0 || e.Result.Failed):
		content = append(content, textContent(fenced(truncate(e.Result.Text))))
	}
	for _, image := range e.Result.Images {
		if mimeType, data, ok := splitDataURL(image); ok {
			content = append(content, acpsdk.ToolCallContentContent{Type: "content", Content: acpsdk.ImageBlock(data, mimeType)})
		}
	}
	return content
}

func splitDataURL(dataURL string) (mimeType, data string, ok bool) {
	rest, ok := strings.CutPrefix(dataURL, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}
