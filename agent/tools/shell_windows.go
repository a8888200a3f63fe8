package tools

import (
	"os"
	"os/exec"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Commands run on Unix; on Windows the agent runs inside WSL. What stands here
// lets the package build.

func ownSession(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) bool { return cmd.Process.Kill() == nil }

func exitStatus(state *os.ProcessState) agent.ExitStatus {
	return agent.ExitStatus{Code: state.ExitCode()}
}
