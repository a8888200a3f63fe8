//go:build unix && !linux

package wslbridge

import "syscall"

func agentAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
