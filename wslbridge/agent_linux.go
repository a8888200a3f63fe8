package wslbridge

import "syscall"

// agentAttributes put an agent into a process group of its own, which does not outlive a host that is
// killed.
func agentAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
