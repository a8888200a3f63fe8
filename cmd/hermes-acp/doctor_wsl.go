//go:build !windows

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// wslMachine is a distro as seen from inside.
type wslMachine struct {
	distro  string // WSL_DISTRO_NAME, "" when it is not known
	kernel  string // its release
	mounts  pathxlate.MountTable
	routes  string // text of /proc/net/route
	interop bool   // the kernel hands programs of Windows to WSL
	socket  string // WSL_INTEROP, through which they start
	wslenv  string // WSLENV
}

func thisWSLMachine() *wslMachine {
	text := func(path string) string {
		content, _ := os.ReadFile(path) // what cannot be read says nothing
		return strings.TrimSpace(string(content))
	}
	return &wslMachine{
		distro:  os.Getenv("WSL_DISTRO_NAME"),
		kernel:  text("/proc/sys/kernel/osrelease"),
		mounts:  wslMounts(),
		routes:  text("/proc/net/route"),
		interop: exists("/proc/sys/fs/binfmt_misc/WSLInterop") || exists("/proc/sys/fs/binfmt_misc/WSLInterop-late"),
		socket:  os.Getenv("WSL_INTEROP"),
		wslenv:  os.Getenv("WSLENV"),
	}
}

func (w *wslMachine) translator() pathxlate.Translator {
	return pathxlate.Translator{Distro: w.distro, Mounts: w.mounts}
}

// restartWSL makes WSL read wsl.conf again.
const restartWSL = "then in PowerShell run: wsl --shutdown"

// distro reports which one this is.
func (c *checkup) distro(context.Context) []finding {
	const name = "WSL"
	switch {
	case c.wsl == nil:
		return nil
	case c.wsl.distro == "":
		return []finding{warning(name, "this is WSL, but WSL_DISTRO_NAME is not set, so paths such as \\\\wsl.localhost\\NAME cannot be told from those of other distros",
			"do not start the editor or the agent through sudo or a systemd unit, or set WSL_DISTRO_NAME there to the name that in PowerShell this prints: wsl --list --quiet")}
	}
	version := 2
	if strings.Contains(c.wsl.kernel, "Microsoft") { // WSL 2 writes it small
		version = 1
	}
	return []finding{fine(name, fmt.Sprintf("%s, WSL %d, kernel %s", c.wsl.distro, version, c.wsl.kernel))}
}

// drives reports where the drives of Windows are.
func (c *checkup) drives(context.Context) []finding {
	const name = "drives"
	if c.wsl == nil {
		return nil
	}
	t := c.wsl.translator()
	var mounted []string
	for letter := 'A'; letter <= 'Z'; letter++ {
		drive := string(letter) + ":"
		if at, err := t.ToLinux(drive); err == nil {
			mounted = append(mounted, drive+" at "+at)
		}
	}
	if len(mounted) == 0 {
		return []finding{warning(name, "no drive of Windows is mounted, so folders on one cannot be opened",
			"put enabled=true below [automount] in /etc/wsl.conf: "+c.toType("sudo nano /etc/wsl.conf")+"; "+restartWSL)}
	}
	return []finding{fine(name, strings.Join(mounted, ", "))}
}

// interop reports whether programs of Windows start from here, as MCP servers
// that an editor on Windows names need it.
func (c *checkup) interop(context.Context) []finding {
	const name = "interop"
	switch {
	case c.wsl == nil:
		return nil
	case !c.wsl.interop:
		return []finding{warning(name, "programs of Windows do not start inside WSL, so MCP servers that are such programs do not either",
			"put enabled=true below [interop] in /etc/wsl.conf: "+c.toType("sudo nano /etc/wsl.conf")+"; "+restartWSL)}
	case c.wsl.socket == "":
		return []finding{warning(name, "WSL_INTEROP is not set, so programs of Windows may not start from here",
			"do not start the editor or the agent through sudo or a systemd unit")}
	}
	return []finding{fine(name, "programs of Windows start inside WSL")}
}

// windowsVariables reports which variables of Windows arrive here.
func (c *checkup) windowsVariables(context.Context) []finding {
	const name = "WSLENV"
	if c.wsl == nil {
		return nil
	}
	var names, ignored []string
	for _, entry := range strings.FieldsFunc(c.wsl.wslenv, func(r rune) bool { return r == ':' }) {
		variable, flags, _ := strings.Cut(entry, "/")
		if strings.Trim(flags, "pluw") != "" {
			ignored = append(ignored, entry)
			continue
		}
		names = append(names, variable)
	}
	slices.Sort(names)
	switch {
	case len(ignored) > 0:
		return []finding{warning(name, "WSL passes over entries with unknown flags: "+strings.Join(ignored, ", "),
			"correct WSLENV on Windows; the flags are p, l, u and w")}
	case len(names) == 0:
		return []finding{fine(name, "no variable of Windows is asked for")}
	}
	return []finding{fine(name, "from Windows: "+strings.Join(names, ", "))}
}
