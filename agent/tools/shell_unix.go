//go:build unix

package tools

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hermes-acp/hermes-acp/agent"
)

// ownSession starts cmd in a new session: its process group can be signalled as
// one, and it has no terminal to ask questions on.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func terminateGroup(cmd *exec.Cmd) {
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGTERM) // gone already is fine
}

// killGroup kills what is left of the group and reports whether there was
// something.
func killGroup(cmd *exec.Cmd) bool {
	return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) == nil
}

func exitStatus(state *os.ProcessState) agent.ExitStatus {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return agent.ExitStatus{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
	}
	return agent.ExitStatus{Code: state.ExitCode()}
}
