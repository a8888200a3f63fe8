//go:build unix

package wslbridge

import (
	"os/exec"
	"syscall"
)

// containment stands in for the job object of Windows.
type containment struct{ group int }

func startContained(cmd *exec.Cmd) (containment, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return containment{}, err
	}
	return containment{group: cmd.Process.Pid}, nil
}

func (c containment) kill() {
	_ = syscall.Kill(-c.group, syscall.SIGKILL) // it fails when nobody is left
}

// shareConsole lets cmd use the terminal, which here every child does.
func shareConsole(*exec.Cmd) {}
