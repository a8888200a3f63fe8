//go:build unix && !linux

package wslbridgetest

import "syscall"

func sessionAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (job Job) withDrives() (Job, error) { return job, nil }
