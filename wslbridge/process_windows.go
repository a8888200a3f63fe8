package wslbridge

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// containment is a job object that kills everything in it when its last handle is closed, which the
// system does for a launcher that dies.
type containment struct{ job *jobHandle }

type jobHandle struct {
	once   sync.Once
	handle windows.Handle
}

func (c containment) kill() {
	c.job.once.Do(func() {
		_ = windows.TerminateJobObject(c.job.handle, 1)
		_ = windows.CloseHandle(c.job.handle)
	})
}

// startContained starts cmd suspended, so that nothing it starts can be outside the job. wsl.exe may
// itself be a stub that starts the real one.
func startContained(cmd *exec.Cmd) (containment, error) {
	job, err := newKillingJob()
	if err != nil {
		return containment{}, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return containment{}, err
	}
	var assignErr error
	err = cmd.Process.WithHandle(func(h uintptr) {
		assignErr = windows.AssignProcessToJobObject(job, windows.Handle(h))
	})
	if err == nil {
		err = assignErr
	}
	if err == nil {
		err = resume(uint32(cmd.Process.Pid))
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return containment{}, fmt.Errorf("put it into a job: %w", err)
	}
	return containment{job: &jobHandle{handle: job}}, nil
}

func newKillingJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create a job: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limit a job: %w", err)
	}
	return job, nil
}

// resume starts the one thread of a process that was created suspended.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open its thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		return err
	}
	return fmt.Errorf("find its thread: %w", err)
}

// shareConsole lets cmd use this process's console. Without one, as under an editor, a console window
// must not flash up.
func shareConsole(cmd *exec.Cmd) {
	if !HasConsole() {
		cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
	}
}

// HasConsole reports whether this process is attached to a console, visible or not.
func HasConsole() bool {
	_, err := windows.GetConsoleCP()
	return err == nil
}
