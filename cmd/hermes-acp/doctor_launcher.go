package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// windowsMachine is Windows as doctor looks at it before it goes inside WSL.
type windowsMachine struct {
	wsl           string // path of wsl.exe
	wslErr        error  // of looking at it
	configPath    string
	configErr     error // of reading bridge.yaml; fs.ErrNotExist when there is none
	registered    wslbridge.Registered
	registeredErr error
	drives        map[string]string // targets of mapped and SUBST drives, by letter
	logs          string            // folder of the log file
	logsErr       error             // of making a file there
	gitBash       bool              // this window rewrites paths in arguments
}

// findings are what can be said without starting anything.
func (m windowsMachine) findings() []finding {
	return slices.Concat(
		[]finding{m.launcherProgram(), m.bridgeConfig(), m.distros()},
		m.mappedDrives(), []finding{m.launcherLogs()}, m.window())
}

func (m windowsMachine) launcherProgram() finding {
	if m.wslErr != nil {
		return failure("wsl.exe", "there is no "+m.wsl, "in PowerShell as administrator run: wsl --install, then restart Windows")
	}
	return fine("wsl.exe", m.wsl)
}

func (m windowsMachine) bridgeConfig() finding {
	const name = "bridge.yaml"
	switch {
	case errors.Is(m.configErr, fs.ErrNotExist):
		return fine(name, "there is none, and none is needed; it would be "+m.configPath)
	case m.configErr != nil:
		return failure(name, m.configErr.Error(), fmt.Sprintf("mend it; in PowerShell run: notepad %q", m.configPath))
	}
	return fine(name, m.configPath)
}

func (m windowsMachine) distros() finding {
	const name = "distros"
	if m.registeredErr != nil {
		return failureOf(name, m.registeredErr, "in PowerShell run: wsl --list --verbose, and see what it says")
	}
	if len(m.registered.Distros) == 0 {
		return failure(name, wslbridge.ErrNoDistro.Error(), "in PowerShell run: wsl --install")
	}
	var shown []string
	for _, d := range m.registered.Distros {
		text := fmt.Sprintf("%s (WSL %d", d.Name, d.Version)
		if strings.EqualFold(d.GUID, m.registered.Default) {
			text += ", default"
		}
		if !d.Ready {
			text += ", being installed or removed"
		}
		shown = append(shown, text+")")
	}
	return fine(name, strings.Join(shown, ", "))
}

// mappedDrives reports the letters that do not exist inside WSL.
func (m windowsMachine) mappedDrives() []finding {
	const name = "drives"
	var found []finding
	for _, letter := range slices.Sorted(maps.Keys(m.drives)) {
		target := m.drives[letter]
		detail := fmt.Sprintf("%s: stands for %s", letter, target)
		_, distro := pathxlate.DistroOf(target)
		if strings.HasPrefix(target, `\\`) && !distro {
			at := "/mnt/" + strings.ToLower(letter)
			found = append(found, warning(name, detail+", which WSL does not mount by itself",
				fmt.Sprintf("to work in it, inside the distro (in PowerShell: wsl) run: sudo mkdir -p %s && sudo mount -t drvfs %s %s", at, shellWord(target), at)))
			continue
		}
		found = append(found, fine(name, detail))
	}
	return found
}

func (m windowsMachine) launcherLogs() finding {
	if m.logsErr != nil {
		return failureOf("launcher log", m.logsErr, fmt.Sprintf("in PowerShell run: icacls %q, and see who may write there", m.logs))
	}
	return fine("launcher log", m.logs+`\hermes-acp.log`)
}

// window reports a terminal that changes what is typed.
func (m windowsMachine) window() []finding {
	if !m.gitBash {
		return nil
	}
	return []finding{warning("window", "this is Git Bash, which turns Linux paths behind -- into paths of Windows", "in this window run first: export MSYS_NO_PATHCONV=1")}
}

// chosenDistro reports in which distro the agent would run, and why.
func chosenDistro(l *wslbridge.Launcher) (wslbridge.Distro, finding) {
	const name = "distro"
	distro, err := l.Choose()
	if err != nil {
		return distro, failureOf(name, err, "in PowerShell run: wsl --list --quiet, and name one of them with --distro")
	}
	reason := "the only one"
	switch named, inDistro := pathxlate.DistroOf(l.WorkDir); {
	case l.Distro.Name != "":
		reason = "named by " + l.Distro.Source
	case inDistro && strings.EqualFold(named, distro.Name):
		reason = "this folder is in it"
	case strings.EqualFold(distro.GUID, l.Registered.Default):
		reason = "the default of WSL"
	}
	if distro.Version == 1 {
		return distro, warning(name, distro.Name+", "+reason+"; it runs under WSL 1, which is not tested", "in PowerShell run: wsl --set-version "+distro.Name+" 2")
	}
	return distro, fine(name, distro.Name+", "+reason)
}

// insideFindings are the findings that doctor --json printed inside WSL. exit is
// its exit code.
func insideFindings(distro string, printed []byte, said string, exit int, err error) []finding {
	const name = "inside WSL"
	remedy := "in PowerShell run: wsl -d " + distro + " -- true, and see what it says"
	if err != nil {
		return []finding{failureOf(name, err, remedy)}
	}
	var found []finding
	if err := json.Unmarshal(printed, &found); err != nil {
		return []finding{failure(name, fmt.Sprintf("doctor inside %s ended with status %d and said: %s", distro, exit, said), remedy)}
	}
	return found
}

// withoutMapping spells a path without a drive letter that only Windows knows.
func withoutMapping(path string, drives map[string]string) string {
	if len(path) < 2 || path[1] != ':' {
		return path
	}
	target, ok := drives[strings.ToUpper(path[:1])]
	if !ok {
		return path
	}
	return strings.TrimRight(target, `\`) + path[2:]
}
