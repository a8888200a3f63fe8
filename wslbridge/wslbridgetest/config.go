// Package wslbridgetest is a simulated wsl.exe. It is strict about how it is called, writes down
// every call byte for byte, and does what the real one does where that hurts: errors go to stdout in
// UTF-16, one thread relays both directions, and only variables named in WSLENV cross.
//
// On Linux it runs the command itself. Built for Windows it asks a broker, a Linux process that it
// starts over loopback, to run it, so that a real hermes-acp.exe can be tested under Wine.
package wslbridgetest

import (
	"encoding/json"
	"fmt"
	"os"
)

// ConfigEnv names the variable that holds the path of the Config file, as the simulation's own
// operating system spells it.
const ConfigEnv = "WSLSIM_CONFIG"

// Config says what the simulated machine looks like and how it misbehaves.
type Config struct {
	Distros []Distro `json:"distros"`
	Log     string   `json:"log"` // file that gets one JSON Invocation a line

	// Drives are the Windows drives that the distro mounts, by lower-case letter, and the folders of
	// this Linux machine that they show.
	Drives map[string]string `json:"drives,omitempty"`

	StartDelayMillis int    `json:"start_delay_millis,omitempty"`
	Hang             bool   `json:"hang,omitempty"`          // never start the command, say nothing
	FailID           string `json:"fail_id,omitempty"`       // fail with this error id, e.g. Wsl/Service/WSL_E_DISTRO_NOT_FOUND
	FailMessage      string `json:"fail_message,omitempty"`  // in front of it
	FailExit         int    `json:"fail_exit,omitempty"`     // 0 means -1, as wsl.exe has it
	IgnoreUTF8       bool   `json:"ignore_utf8,omitempty"`   // an old version that does not know WSL_UTF8
	RefuseCD         bool   `json:"refuse_cd,omitempty"`     // an old version that does not know --cd
	BannerStdout     string `json:"banner_stdout,omitempty"` // written before the command's output
	BannerStderr     string `json:"banner_stderr,omitempty"`
	DieAfterBytes    int64  `json:"die_after_bytes,omitempty"`   // end like a killed wsl.exe after so much output
	CrashAfterBytes  int64  `json:"crash_after_bytes,omitempty"` // end like a crashed virtual machine after the line that so much output is in
	Orphan           bool   `json:"orphan,omitempty"`            // the command gets no SIGHUP when wsl.exe is killed
	Broker           string `json:"broker,omitempty"`            // path of the broker, for the Windows build
}

// Distro is an installed distro.
type Distro struct {
	Name    string `json:"name"`
	GUID    string `json:"guid,omitempty"`
	Default bool   `json:"default,omitempty"`
	Home    string `json:"home"`           // HOME of the default user, a Linux path
	Path    string `json:"path,omitempty"` // PATH of --exec; "" means that of a plain distro
}

// Invocation is one call of wsl.exe.
type Invocation struct {
	PID     int      `json:"pid"`
	Args    []string `json:"args"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`     // of wsl.exe itself
	Command []string `json:"command"` // what ran inside
	Inner   []string `json:"inner"`   // environment of the command
}

// WriteConfig stores c at path.
func WriteConfig(path string, c Config) error {
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return fmt.Errorf("write the simulation's config: %w", err)
	}
	return os.WriteFile(path, text, 0o600)
}

func readConfig() (Config, error) {
	text, err := os.ReadFile(os.Getenv(ConfigEnv))
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", ConfigEnv, err)
	}
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return Config{}, fmt.Errorf("read %s: %w", ConfigEnv, err)
	}
	return c, nil
}

// ReadLog returns the calls recorded in the file at path, the first one first.
func ReadLog(path string) ([]Invocation, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var calls []Invocation
	for line := range splitLines(string(text)) {
		var call Invocation
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			return nil, fmt.Errorf("read the simulation's log: %w", err)
		}
		calls = append(calls, call)
	}
	return calls, nil
}
