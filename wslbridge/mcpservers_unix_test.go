//go:build unix

package wslbridge

import (
	"errors"
	"os/exec"
	"testing"
)

// TestW46_RunFromFolder runs the script that starts Windows programs from a drive: in the folder, with
// the arguments as they are, and with the program's own exit code.
func TestW46_RunFromFolder(t *testing.T) {
	r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
	start := r.fromDrive(mcpStart{command: "/bin/sh", windows: true}, "/root")
	if start.command != "/bin/sh" || start.before[2] != "/mnt/c" {
		t.Fatalf("starts %q %q, want the shell with /mnt/c", start.command, start.before)
	}
	folder := t.TempDir()
	start.before[2] = folder
	args := append(start.before, "-c", `pwd -P; printf '<%s>' "$@"; exit 7`, "sh", "a b", "", `C:\x "$HOME"`)
	out, err := exec.CommandContext(t.Context(), start.command, args...).Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want status 7", err)
	}
	real, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cd "$0" && pwd -P`, folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := string(real) + `<a b><><C:\x "$HOME">`; string(out) != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}
