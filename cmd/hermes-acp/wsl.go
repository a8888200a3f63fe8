//go:build !windows

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// insideWSL reports whether this process runs inside a WSL distro. A distro's
// name is in the environment unless sudo or systemd dropped it; the kernel says
// Microsoft or microsoft otherwise, save for a custom one (the test that WSL's
// own init makes).
func insideWSL() bool {
	if os.Getenv("WSL_DISTRO_NAME") != "" {
		return true
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(release)), "microsoft")
}

// wslMounts reads which folders are Windows drives, as they are now. Where that
// cannot be read, it is what wsl.conf says WSL mounts.
func wslMounts() pathxlate.MountTable {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		conf, _ := os.ReadFile("/etc/wsl.conf") // without one WSL has its defaults
		return pathxlate.ParseWSLConf(string(conf))
	}
	return pathxlate.ParseMountInfo(string(info), virtiofsSources())
}

// virtiofsSources are the Windows folders behind virtiofs mounts by their tag:
// WSL keeps a link for each.
func virtiofsSources() map[string]string {
	const dir = "/run/wsl/virtiofs"
	links, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	sources := make(map[string]string, len(links))
	for _, link := range links {
		if target, err := os.Readlink(filepath.Join(dir, link.Name())); err == nil {
			sources[link.Name()] = target
		}
	}
	return sources
}

// wslTranslator translates by this machine's mounts and distro.
func wslTranslator() pathxlate.Translator {
	return pathxlate.Translator{Distro: os.Getenv("WSL_DISTRO_NAME"), Mounts: wslMounts()}
}

// wslRewriteConfig is what the rewrite stage has to know of this machine.
func wslRewriteConfig(login *wslbridge.LoginEnvironment, log *slog.Logger) wslbridge.RewriteConfig {
	return wslbridge.RewriteConfig{
		Distro: os.Getenv("WSL_DISTRO_NAME"), Mounts: wslMounts, WSLENV: os.Getenv("WSLENV"),
		LookPath: func(name string) (string, bool) {
			path, err := login.LookPath(context.Background(), name)
			return path, err == nil
		},
		Log: log,
	}
}

// translateWindowsPath turns a path that a model wrote as Windows does into its
// Linux form. Every other path comes back as it is.
func translateWindowsPath(path string) (string, error) {
	if !pathxlate.FormOf(path).IsWindows() {
		return path, nil
	}
	return wslTranslator().ToLinux(path)
}

// sameDirOnDrive reports whether two Linux paths name one folder of a Windows
// drive, where case does not count.
func sameDirOnDrive(a, b string) bool {
	return strings.EqualFold(a, b) && wslTranslator().SameDir(a, b)
}

// onDrvfs reports whether a Linux path lies on a Windows drive.
func onDrvfs(path string) bool {
	windows, err := wslTranslator().ToWindows(path)
	return err == nil && !strings.HasPrefix(windows, `\\wsl`)
}
