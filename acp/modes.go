package acp

import (
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// modes are the policies for edits, in the order in which clients list them.
// Commands ask in all of them.
func modes() []acpsdk.SessionMode {
	mode := func(id agent.Mode, name, description string) acpsdk.SessionMode {
		return acpsdk.SessionMode{Id: acpsdk.SessionModeId(id), Name: name, Description: &description}
	}
	return []acpsdk.SessionMode{
		mode(agent.ModeDefault, "Default", "Asks before every edit."),
		mode(agent.ModeAcceptEdits, "Accept Edits", "Edits inside the workspace and temporary folders are allowed; sensitive files ask."),
		mode(agent.ModeDontAsk, "Don't Ask", "Edits are allowed everywhere; sensitive files ask."),
		mode(agent.ModePlan, "Plan", "Nothing is written and nothing runs."),
	}
}

func modeState(current agent.Mode) *acpsdk.SessionModeState {
	return &acpsdk.SessionModeState{AvailableModes: modes(), CurrentModeId: acpsdk.SessionModeId(current)}
}

// parseMode accepts the listed modes only.
func parseMode(id string) (agent.Mode, error) {
	for _, m := range modes() {
		if string(m.Id) == id {
			return agent.Mode(id), nil
		}
	}
	return "", invalid("there is no mode %q; the modes are %s", id, modeNames())
}

func modeNames() string {
	var names []string
	for _, m := range modes() {
		names = append(names, string(m.Id))
	}
	return strings.Join(names, ", ")
}
