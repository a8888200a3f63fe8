package wslbridge

import (
	"errors"
	"fmt"
	"strings"
)

// ErrWSL is the cause of every failure of wsl.exe itself, as opposed to the agent's.
var ErrWSL = errors.New("wsl.exe failed")

// wslRemedy tells what to do about an error of wsl.exe, by the last part of its id. Its messages
// are localised, its ids are not.
func wslRemedy(symbol, distro string) string {
	switch symbol {
	case "WSL_E_DISTRO_NOT_FOUND":
		return fmt.Sprintf("the distro %q is not installed; in PowerShell run: wsl --list --quiet, and name one of them with --distro", distro)
	case "WSL_E_DEFAULT_DISTRO_NOT_FOUND":
		return "no distro is installed; in PowerShell run: wsl --install"
	case "WSL_E_USER_NOT_FOUND":
		return "the user named with --user does not exist in " + distro
	case "WSL_E_WSL_OPTIONAL_COMPONENT_REQUIRED", "WSL_E_VIRTUAL_MACHINE_PLATFORM_REQUIRED", "WSL_E_INSTALL_COMPONENT_FAILED", "WSL_E_INSTALL_PROCESS_FAILED":
		return "WSL is not set up; in an elevated PowerShell run: wsl --install --no-distribution, then restart Windows"
	case "WSL_E_WSL1_NOT_SUPPORTED", "WSL_E_VM_MODE_NOT_SUPPORTED", "WSL_E_WSL2_NEEDED":
		return fmt.Sprintf("this distro's WSL version cannot run here; in PowerShell run: wsl --set-version %s 2", distro)
	case "WSL_E_DISTRO_NOT_STOPPED", "E_ILLEGAL_STATE_CHANGE":
		return fmt.Sprintf("%s is being installed, moved or converted; wait until that has ended, then start again", distro)
	case "WSL_E_LOCAL_SYSTEM_NOT_SUPPORTED":
		return "WSL does not run for the SYSTEM account; start the editor as an ordinary user"
	case "WSL_E_LOWER_INTEGRITY", "WSL_E_HIGHER_INTEGRITY":
		return "the running WSL belongs to another integrity level; start the editor as WSL was started, elevated or not"
	case "WSL_E_DISK_CORRUPTED", "WSL_E_VM_CRASHED", "E_UNEXPECTED", "HCS_E_CONNECTION_TIMEOUT":
		return "in PowerShell run: wsl --shutdown, then start again"
	default:
		return fmt.Sprintf("in PowerShell run: wsl -d %s -- true, and see what it says", distro)
	}
}

// wslErrorID finds an id such as Wsl/Service/WSL_E_DISTRO_NOT_FOUND in text.
func wslErrorID(text string) string {
	for word := range strings.FieldsSeq(text) {
		if strings.HasPrefix(word, "Wsl/") || strings.HasPrefix(word, "Bash/") {
			return word
		}
	}
	return ""
}

// diagnose explains why a child ended before hello, from everything that it printed.
func diagnose(text string, code int, distro string) error {
	if id := wslErrorID(text); id != "" {
		symbol := id[strings.LastIndexByte(id, '/')+1:]
		return fmt.Errorf("%w (%s): %s", ErrWSL, id, wslRemedy(symbol, distro))
	}
	said := strings.Join(strings.Fields(text), " ")
	if len(said) > 300 {
		said = "... " + strings.ToValidUTF8(said[len(said)-300:], "")
	}
	if said == "" {
		said = "nothing"
	}
	if uint32(code) == exitWSL {
		return fmt.Errorf("%w and said: %s; %s", ErrWSL, said, wslRemedy("", distro))
	}
	return fmt.Errorf("hermes-acp did not start inside %s (status %d), which said: %s; %s", distro, code, said, wslRemedy("", distro))
}

// exitWSL is the exit code of wsl.exe's own errors, -1.
const exitWSL = 0xFFFFFFFF
