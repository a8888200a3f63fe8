package acpclient

import (
	"os/exec"
	"syscall"
)

func leadOwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
}

// terminate does nothing: Windows has no request to end that a program without
// a window would hear, so Kill follows.
func (p *Process) terminate() {}

func (p *Process) killGroup() { _ = p.cmd.Process.Kill() }
