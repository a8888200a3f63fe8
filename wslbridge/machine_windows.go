package wslbridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const lxssKey = `Software\Microsoft\Windows\CurrentVersion\Lxss`

const lxssInstalled = 1 // value of State

// ReadRegistered reads the distros of this account from the registry. Unlike the text of `wsl -l` it
// is not localised and needs no process.
func ReadRegistered() (Registered, error) {
	lxss, err := registry.OpenKey(registry.CURRENT_USER, lxssKey, registry.READ)
	if errors.Is(err, registry.ErrNotExist) {
		return Registered{}, nil
	}
	if err != nil {
		return Registered{}, fmt.Errorf("read the list of distros: %w", err)
	}
	defer func() { _ = lxss.Close() }()
	keys, err := lxss.ReadSubKeyNames(-1)
	if err != nil {
		return Registered{}, fmt.Errorf("read the list of distros: %w", err)
	}
	var r Registered
	r.Default, _, _ = lxss.GetStringValue("DefaultDistribution") // absent when there is no default
	for _, guid := range keys {
		if distro, ok := readDistro(lxss, guid); ok {
			r.Distros = append(r.Distros, distro)
		}
	}
	return r, nil
}

// readDistro reports false for the other keys that stand beside the distros.
func readDistro(lxss registry.Key, guid string) (Distro, bool) {
	key, err := registry.OpenKey(lxss, guid, registry.READ)
	if err != nil {
		return Distro{}, false
	}
	defer func() { _ = key.Close() }()
	name, _, err := key.GetStringValue("DistributionName")
	if err != nil || name == "" {
		return Distro{}, false
	}
	version, _, _ := key.GetIntegerValue("Version")
	state, _, err := key.GetIntegerValue("State")
	return Distro{Name: name, GUID: guid, Version: int(version), Ready: err != nil || state == lxssInstalled}, true
}

// ReadDrives returns the targets of this session's mapped and SUBST drives by upper-case letter.
func ReadDrives() map[string]string {
	mask, err := windows.GetLogicalDrives()
	if err != nil {
		return nil
	}
	var letters strings.Builder
	for i := range 26 {
		if mask&(1<<i) != 0 {
			letters.WriteByte('A' + byte(i))
		}
	}
	return driveTargets(letters.String(), dosDevice, networkShare)
}

func dosDevice(drive string) string {
	name, err := windows.UTF16PtrFromString(drive)
	if err != nil {
		return ""
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	if _, err := windows.QueryDosDevice(name, &buf[0], uint32(len(buf))); err != nil {
		return ""
	}
	return windows.UTF16ToString(buf)
}

// networkShare asks only about network drives, since for others the answer is slow to come.
func networkShare(drive string) string {
	root, err := windows.UTF16PtrFromString(drive + `\`)
	if err != nil || windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return ""
	}
	name, err := windows.UTF16PtrFromString(drive)
	if err != nil {
		return ""
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buf))
	getConnection := windows.NewLazySystemDLL("mpr.dll").NewProc("WNetGetConnectionW")
	result, _, _ := getConnection.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)))
	if result != 0 {
		return ""
	}
	return windows.UTF16ToString(buf)
}

// FindWSL returns the absolute path of wsl.exe and the folder of Windows. A 32-bit process sees the
// real System32 under another name.
func FindWSL() (wsl, systemRoot string) {
	systemRoot, err := windows.GetSystemWindowsDirectory()
	if err != nil {
		systemRoot = os.Getenv("SystemRoot")
	}
	for _, dir := range []string{"Sysnative", "System32"} {
		wsl = filepath.Join(systemRoot, dir, "wsl.exe")
		if _, err := os.Stat(wsl); err == nil {
			break
		}
	}
	return wsl, systemRoot
}

// MachineArch returns the GOARCH of the processor, which this program may run on emulated.
func MachineArch() string {
	const machineAMD64, machineARM64 = 0x8664, 0xAA64
	var process, native uint16
	if err := windows.IsWow64Process2(windows.CurrentProcess(), &process, &native); err != nil {
		return runtime.GOARCH
	}
	switch native {
	case machineAMD64:
		return "amd64"
	case machineARM64:
		return "arm64"
	}
	return runtime.GOARCH
}
