//go:build unix

package acpclient

import (
	"os/exec"
	"syscall"
)

func leadOwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// terminate asks the agent to end.
func (p *Process) terminate() { _ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM) }

func (p *Process) killGroup() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
