//go:build !windows

package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Hermes' own adapter is what people compare us with. Its behaviours have numbers
// of our own, 1 to 133; each that is kept has a case that is named by its number
// and drives the real program. Where we decided otherwise the case states our
// rule, and a comment there says what Hermes does. These have none:
//
//	 11  HERMES_ACP_SKIP_CONFIGURED_MCP: servers come from the client only, so
//	     there is nothing to skip
//	 12, 13  --setup-browser: accepted, does nothing, as there are no browser tools
//	 38  a sweep that deletes every session: no method does that
//	 42  a failed save keeps the old transcript: agent/store TestDiskFull
//	 63  which callbacks a turn sets: inner wiring of Hermes
//	 67  replies that hooks rewrite: there are no such hooks
//	 74, 77  a client that takes no updates: acp TestClientThatStopsReadingForAWhile
//	 98, 99  events of tools that were never announced: calls go by their ids
//	130  headers of HTTP servers: acp_043
//	131  names of toolsets: tools are one list

func TestConformanceHermes_InitializeAndAuthenticate(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"hermes_001_protocol_version", `
start
call initialize {"protocolVersion":1}
expect /result/protocolVersion 1
`},
		{"hermes_002_name_and_version_of_the_build", `
start
call initialize {"protocolVersion":1}
expect /result/agentInfo {"name":"hermes-acp","title":"Hermes","version":"` + version + `"}
`},
		{"hermes_003_keys_on_the_wire", `
start
call initialize {"protocolVersion":1}
expect /result/agentCapabilities/loadSession true
expect /result/agentCapabilities/sessionCapabilities/fork {}
expect /result/agentCapabilities/sessionCapabilities/list {}
expect /result/agentCapabilities/sessionCapabilities/resume {}
`},
		{"hermes_004_the_providers_method_first", openRouter + `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}
expect /result/authMethods/0/id "openrouter"
expect /result/authMethods/0/name "openrouter runtime credentials"
expect /result/authMethods/1/id "hermes-setup"
expect /result/authMethods/1/type "terminal"
expect /result/authMethods/1/args ["--setup"]
never secret-key
`},
		// Hermes lists the setup method alone. Some clients authenticate with the
		// first method at once, so the first one is always one without a terminal.
		{"hermes_005_no_provider", noProvider + `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}
expect /result/authMethods/0/id "hermes-config"
expect /result/authMethods/1/id "hermes-setup"
expect /result/authMethods/2 absent
`},
		{"hermes_006_authenticate_in_any_case", openRouter + `
hello
call authenticate {"methodId":" OpenRouter "}
expect /result {}
`},
		// Hermes answers null to the next three.
		{"hermes_007_authenticate_with_an_unknown_method", openRouter + `
hello
call authenticate {"methodId":"anthropic"}
expect /error/code -32602
`},
		{"hermes_008_authenticate_without_a_provider", noProvider + `
hello
call authenticate {"methodId":"openrouter"}
expect /error/code -32000
`},
		{"hermes_009_the_setup_method_needs_a_provider", noProvider + `
hello
call authenticate {"methodId":"hermes-setup"}
expect /error/code -32000
write home/.hermes/config.yaml "model:\n  provider: offline\n"
call authenticate {"methodId":"hermes-setup"}
expect /result {}
`},
		{"hermes_010_unstable_methods_are_served", `
open
call session/set_model {"sessionId":"$SESSION","modelId":"test-model"}
expect /result {}
call session/fork {"sessionId":"$SESSION","cwd":"$WORK/ws"}
expect /result/sessionId present
`},
		{"hermes_014_children_do_not_read_our_stdin", `
open
begin go
answer allow_once
await
update tool_call_update /content/1/content/text has read nothing
call session/list {}
expect /result present
-- reply --
call terminal {"command": "cat > all; test -s all || echo read nothing"}
-- reply --
text Done.
`},
	})
}

const (
	openRouter = `
env OPENAI_BASE_URL
env OPENAI_API_KEY
env OPENROUTER_API_KEY=secret-key
`
	noProvider = `
env OPENAI_BASE_URL
env OPENAI_API_KEY
env HERMES_MODEL
`
)

func TestConformanceHermes_CommandLine(t *testing.T) {
	t.Run("hermes_015_check", func(t *testing.T) {
		t.Parallel()
		stdout, stderr, err := runProgram(t, []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "HERMES_MODEL=m"}, "", "--check")
		if err != nil || !strings.HasPrefix(stdout, "hermes-acp check OK") {
			t.Errorf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
		}
	})
	// Clients probe for life with a few well-known names, which is nothing to log.
	t.Run("hermes_016_probes_are_not_logged", func(t *testing.T) {
		t.Parallel()
		stdout, stderr, err := runProgram(t, nil, `{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":2,"method":"healthcheck"}
{"jsonrpc":"2.0","id":3,"method":"session/shout"}
`)
		if err != nil || strings.Count(stdout, "-32601") != 3 || strings.Contains(stderr, "ping") ||
			strings.Contains(stderr, "healthcheck") || !strings.Contains(stderr, "session/shout") {
			t.Errorf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
		}
	})
	t.Run("hermes_133_the_registry_has_this_version", func(t *testing.T) {
		entry, err := os.ReadFile("../../acp/registry/agent.json")
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Version string }
		if err := json.Unmarshal(entry, &manifest); err != nil || manifest.Version != version {
			t.Errorf("the registry's entry has version %q, %v; the build %q", manifest.Version, err, version)
		}
	})
}

// The translator is shown by itself here; that the agent uses it for the folders
// of sessions is shown through the bridge below. Hermes leaves what it does not
// know as it is; we say what is wrong with it.
func TestConformanceHermes_Paths(t *testing.T) {
	for name, tt := range map[string]struct{ path, want string }{
		"hermes_044_drive":                     {`E:\Projects\AI\paperclip`, "ok\t/mnt/e/Projects/AI/paperclip"},
		"hermes_048_drive_with_slashes":        {`C:/Users/alex`, "ok\t/mnt/c/Users/alex"},
		"hermes_048_root_of_a_drive":           {`D:\`, "ok\t/mnt/d"},
		"hermes_049_share_of_wsl":              {`\\wsl.localhost\Ubuntu\home\alex`, "ok\t/home/alex"},
		"hermes_050_posix":                     {`/home/alex`, "ok\t/home/alex"},
		"hermes_050_relative":                  {`relative\dir`, "error\tErrRelative"},
		"hermes_052_root_of_the_share_of_wsl":  {`\\wsl$\Ubuntu\`, "ok\t/"},
		"hermes_052_share_of_wsl_without_path": {`\\wsl$\Ubuntu`, "ok\t/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, _, _ := runProgram(t, nil, "", "paths", "to-linux", "--distro", "Ubuntu", "--automount-root", "/mnt", "--", tt.path)
			if got := strings.TrimSuffix(stdout, "\n"); got != tt.want && !strings.HasPrefix(got, tt.want+"\t") {
				t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
			}
		})
	}
	playCases(t, directLane, []dialogueCase{
		{"hermes_051_nothing_is_translated_outside_of_wsl", `
hello
call session/new {"cwd":"C:\\Users\\alex","mcpServers":[]}
expect /error/code -32602
expect /error/message has C:\\Users\\alex
`},
	})
}

func TestConformanceHermes_PathsThroughTheBridge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the bridge's Linux half runs on Linux only")
	}
	playCases(t, bridgeLane(), []dialogueCase{
		{"hermes_045_the_cwd_of_a_fork", `
open
call session/fork {"sessionId":"$SESSION","cwd":"$WORK/elsewhere"}
prompt Where?
update tool_call_update /content/1/content/text like ` + "```" + `\n/[^\\]*/elsewhere\n(.|\n)*
-- reply --
call terminal {"command": "pwd"}
-- reply --
text There.
`},
		{"hermes_046_the_cwd_of_a_load", `
open
call session/load {"sessionId":"$SESSION","cwd":"$WORK/elsewhere","mcpServers":[]}
prompt Where?
update tool_call_update /content/1/content/text like ` + "```" + `\n/[^\\]*/elsewhere\n(.|\n)*
-- reply --
call terminal {"command": "pwd"}
-- reply --
text There.
`},
		{"hermes_047_the_cwd_of_tools", `
write ws/a.txt "found\n"
open
prompt Where?
update tool_call /locations/0/path like \\\\wsl\.localhost\\Ubuntu\\.*[\\/]ws[\\/]a\.txt
update tool_call_update /content/0/content/text has found
update tool_call_update /content/1/content/text like ` + "```" + `\n/[^\\]*/ws\n(.|\n)*
-- reply --
call read_file {"path": "a.txt"}
call terminal {"command": "pwd"}
-- reply --
text There.
`},
	})
}
