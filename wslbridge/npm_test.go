//go:build linux

package wslbridge

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// npmClientsEnv names the folder in which scripts/lanes/npm.sh has installed the real clients. One of
// them brings the protocol's own SDK for TypeScript with its example agent.
const npmClientsEnv = "HERMES_NPM_CLIENTS"

func npmSDK(t *testing.T) (node, sdk string) {
	t.Helper()
	clients := os.Getenv(npmClientsEnv)
	if clients == "" {
		t.Skip("run by scripts/test npm")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return node, filepath.Join(clients, "node_modules/acpx/node_modules/@agentclientprotocol/sdk/dist")
}

// A real agent of another maker, which knows nothing of Windows, in a folder that Windows names.
func TestNPMExampleAgentBehindTheBridge(t *testing.T) {
	node, sdk := npmSDK(t)
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.HostArgs = []string{"bridge-host", "--", node, filepath.Join(sdk, "examples/agent.js")}
	e := startEditor(t, l)
	e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`)
	var session struct{ SessionID string }
	if err := json.Unmarshal(e.call("session/new", `{"cwd":"\\\\wsl.localhost\\Ubuntu\\project","mcpServers":[]}`).Result, &session); err != nil {
		t.Fatal(err)
	}
	var locations []string
	note := func(params json.RawMessage) {
		type call struct{ Locations []struct{ Path string } }
		var p struct {
			Update, ToolCall call
		}
		if err := json.Unmarshal(params, &p); err != nil {
			t.Fatal(err)
		}
		for _, l := range append(p.Update.Locations, p.ToolCall.Locations...) {
			locations = append(locations, l.Path)
		}
	}
	answer := e.call("session/prompt", `{"sessionId":"`+session.SessionID+`","prompt":[{"type":"text","text":"Go."}]}`, func(m message) {
		note(m.Params)
		if m.Method == "session/request_permission" {
			e.send(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`, m.ID)
		}
	})
	if string(answer.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("answer = %s", answer.Result)
	}
	want := []string{
		`\\wsl.localhost\Ubuntu\project\README.md`,
		`\\wsl.localhost\Ubuntu\project\config.json`,
		`\\wsl.localhost\Ubuntu\home\user\project\config.json`,
	}
	if diff := cmp.Diff(want, locations); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

// A login in a terminal is started by the client with the launcher's command line; what the agent
// wants in it has to reach the agent.
func TestNPMTerminalLoginLeadsThroughTheLauncher(t *testing.T) {
	node, sdk := npmSDK(t)
	script := `import * as acp from "` + sdk + `/acp.js";
		import { Readable, Writable } from "node:stream";
		acp.agent({ name: "login-agent" })
			.onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {},
				authMethods: [{ id: "login", name: "Log in", type: "terminal", args: ["login", "--web"] }] }))
			.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));`
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.Command = []string{`C:\Tools\hermes-acp.exe`, "--agent", "example"}
	l.HostArgs = []string{"bridge-host", "--", node, "--input-type=module", "-e", script}
	e := startEditor(t, l)
	var result struct{ AuthMethods []struct{ Args []string } }
	if err := json.Unmarshal(e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}`).Result, &result); err != nil {
		t.Fatal(err)
	}
	if len(result.AuthMethods) != 1 {
		t.Fatalf("result = %+v", result)
	}
	if diff := cmp.Diff([]string{"--", "login", "--web"}, result.AuthMethods[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}
