package wslbridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

func TestW44_ProcessesAreHiddenAndContained(t *testing.T) {
	shell := filepath.Join(os.Getenv("SystemRoot"), "system32", "cmd.exe")
	p, err := startProcess(shell, []string{"/c", "pause"}, os.Environ(), os.Getenv("SystemRoot"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.closePipes()
	const want = windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	if attr := p.cmd.SysProcAttr; attr.CreationFlags&want != want || !attr.HideWindow {
		t.Errorf("started with flags %#x", attr.CreationFlags)
	}
	p.kill() // the job; its process waits for a key
	p.wait()
	p.kill() // once more does no harm
}

func TestW45_AConsoleIsSharedWhenThereIsOne(t *testing.T) {
	cmd := exec.Command("cmd.exe")
	shareConsole(cmd)
	if hidden := cmd.SysProcAttr != nil && cmd.SysProcAttr.CreationFlags&windows.CREATE_NO_WINDOW != 0; hidden == HasConsole() {
		t.Errorf("hidden %v, console %v", hidden, HasConsole())
	}
}
