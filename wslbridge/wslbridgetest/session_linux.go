package wslbridgetest

import "syscall"

func sessionAttributes(hangUp bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if hangUp {
		attr.Pdeathsig = syscall.SIGHUP
	}
	return attr
}
