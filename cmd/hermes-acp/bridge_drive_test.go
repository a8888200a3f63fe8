//go:build linux

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
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

// Automount is off or the drive a network drive: the client learns which folder, why, and what to type.
func TestW11_DriveThatIsNotMounted(t *testing.T) {
	cmd, err := bridgeCommand(builtProgram(t), t.TempDir(), agentEnv(t, "http://127.0.0.1:1/v1"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := acpclient.Start(cmd, acpclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.NewSession(t.Context(), `Q:\Projects\app`)
	for _, want := range []string{`Q:\Projects\app`, "not mounted", "mount -t drvfs", "-32602"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s in it", err, want)
		}
	}
}
