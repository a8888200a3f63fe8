//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

// driveLane is a client on Windows that opened a folder of a Windows drive.
func driveLane() lane {
	return lane{
		name: "bridge",
		command: func(program, work string, env []string) (*exec.Cmd, error) {
			cmd, err := bridgeCommand(program, work, env)
			if err != nil {
				return nil, err
			}
			windows := filepath.Join(work, "windows")
			return cmd, wslbridgetest.WriteConfig(filepath.Join(windows, "wsl.json"), wslbridgetest.Config{
				Distros: []wslbridgetest.Distro{{Name: bridgedDistro, GUID: "{u}", Default: true, Home: filepath.Join(work, "home")}},
				Log:     filepath.Join(windows, "wsl.log"),
				Drives:  map[string]string{"e": "/"},
			})
		},
		mount: "/mnt/e",
		spell: func(path string) string { return `e:` + strings.ReplaceAll(path, "/", `\`) },
	}
}

// needDrives skips a test where no mount namespace can be had.
func needDrives(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("unshare", "--mount", "--map-root-user", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %v: %s", err, out)
	}
}

// Shells, file tools, the database and edits all work in the folder that the client means, and the
// client gets its paths back as it spells them, lower-case drive included.
func TestW01_TalkOnADrive(t *testing.T) {
	needDrives(t)
	runScripts(t, "testdata/talk", driveLane())
}
