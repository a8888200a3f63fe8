package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

func TestReport(t *testing.T) {
	findings := []finding{
		fine("a", "is well"),
		warning("b", "is slow\nat times", "wait"),
		failure("c", "is <broken>", "mend it"),
	}
	for name, tc := range map[string]struct {
		findings []finding
		json     bool
		want     string
		wantExit int
	}{
		"text": {findings, false, "ok    a               is well\nwarn  b               is slow ⏎ at times\n  -> wait\nFAIL  c               is <broken>\n  -> mend it\n", 1},
		"json": {
			findings[1:], true,
			`[{"name":"b","status":"warn","detail":"is slow\nat times","remedy":"wait"},{"name":"c","status":"fail","detail":"is <broken>","remedy":"mend it"}]`, 1,
		},
		"a warning is no failure": {findings[:2], true, `[{"name":"a","status":"ok","detail":"is well"},{"name":"b","status":"warn","detail":"is slow\nat times","remedy":"wait"}]`, 0},
		"nothing":                 {nil, true, `[]`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			r := &report{out: &out, json: tc.json, findings: []finding{}}
			r.add(tc.findings...)
			err := r.end()
			exit := 0
			if code, ok := errors.AsType[cli.ExitCoder](err); ok {
				exit = code.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if exit != tc.wantExit {
				t.Errorf("exit code %d, want %d", exit, tc.wantExit)
			}
			got := out.String()
			if tc.json {
				var compact bytes.Buffer
				if err := json.Compact(&compact, out.Bytes()); err != nil {
					t.Fatal(err)
				}
				got = compact.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func ubuntu() wslbridge.Distro {
	return wslbridge.Distro{Name: "Ubuntu", GUID: "{1}", Version: 2, Ready: true}
}

// goodWindows is a machine on which nothing is wrong.
func goodWindows() windowsMachine {
	return windowsMachine{
		wsl:        `C:\Windows\System32\wsl.exe`,
		configPath: `C:\Users\me\AppData\Roaming\hermes-acp\bridge.yaml`,
		registered: wslbridge.Registered{Distros: []wslbridge.Distro{ubuntu()}, Default: "{1}"},
		logs:       `C:\Users\me\AppData\Local\hermes-acp\logs`,
	}
}

// findingLines renders findings that are not well, and the details of those that are.
func findingLines(findings []finding) string {
	var out bytes.Buffer
	r := &report{out: &out}
	r.add(findings...)
	return out.String()
}

func TestDoctorOnWindows(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*windowsMachine)
		want   []string // lines, or their beginnings
	}{
		"well": {func(*windowsMachine) {}, []string{"ok    wsl.exe         C:\\Windows", "ok    distros         Ubuntu (WSL 2, default)", "ok    launcher log    C:\\Users"}},
		"no wsl.exe": {
			func(m *windowsMachine) { m.wslErr = fs.ErrNotExist },
			[]string{`FAIL  wsl.exe         there is no C:\Windows\System32\wsl.exe`, "  -> in PowerShell as administrator run: wsl --install"},
		},
		"no bridge.yaml": {func(m *windowsMachine) { m.configErr = fs.ErrNotExist }, []string{"ok    bridge.yaml     there is none"}},
		"bad bridge.yaml": {
			func(m *windowsMachine) { m.configErr = errors.New("read bridge.yaml: line 3: field distr not found") },
			[]string{"FAIL  bridge.yaml     read bridge.yaml: line 3", "  -> mend it; in PowerShell run: notepad "},
		},
		"no distro": {
			func(m *windowsMachine) { m.registered.Distros = nil },
			[]string{"FAIL  distros         no WSL distro is installed", "  -> in PowerShell run: wsl --install"},
		},
		"registry cannot be read": {
			func(m *windowsMachine) { m.registeredErr = errors.New("read the list of distros: access is denied") },
			[]string{"FAIL  distros         read the list of distros", "  -> in PowerShell run: wsl --list"},
		},
		"a distro on its way": {
			func(m *windowsMachine) {
				m.registered.Distros = append(m.registered.Distros, wslbridge.Distro{Name: "Arch", Version: 1})
			},
			[]string{"ok    distros         Ubuntu (WSL 2, default), Arch (WSL 1, being installed or removed)"},
		},
		"drives": {
			func(m *windowsMachine) {
				m.drives = map[string]string{"S": `D:\src`, "W": `\\wsl.localhost\Ubuntu\home`, "N": `\\server\it's here`}
			},
			[]string{
				`warn  drives          N: stands for \\server\it's here, which WSL does not mount by itself`,
				`  -> to work in it, inside the distro (in PowerShell: wsl) run: sudo mkdir -p /mnt/n && sudo mount -t drvfs '\\server\it'\''s here' /mnt/n`,
				`ok    drives          S: stands for D:\src`, `ok    drives          W: stands for \\wsl.localhost\Ubuntu\home`,
			},
		},
		"logs": {
			func(m *windowsMachine) { m.logsErr = errors.New("access is denied") },
			[]string{"FAIL  launcher log    access is denied", "  -> in PowerShell run: icacls "},
		},
		"Git Bash": {
			func(m *windowsMachine) { m.gitBash = true },
			[]string{"warn  window          this is Git Bash", "  -> in this window run first: export MSYS_NO_PATHCONV=1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := goodWindows()
			tc.change(&m)
			got := "\n" + findingLines(m.findings())
			for _, want := range tc.want {
				if !strings.Contains(got, "\n"+want) {
					t.Errorf("no line begins with %q in:%s", want, got)
				}
			}
		})
	}
}

func TestDoctorSaysWhyADistro(t *testing.T) {
	arch := wslbridge.Distro{Name: "Arch", GUID: "{2}", Version: 1, Ready: true}
	two := wslbridge.Registered{Distros: []wslbridge.Distro{ubuntu(), arch}, Default: "{1}"}
	for name, tc := range map[string]struct {
		launcher wslbridge.Launcher
		want     string
	}{
		"default": {wslbridge.Launcher{Registered: two}, "ok    distro          Ubuntu, the default of WSL\n"},
		"named":   {wslbridge.Launcher{Registered: two, Distro: wslbridge.Wish{Name: "ubuntu", Source: "bridge.yaml"}}, "ok    distro          Ubuntu, named by bridge.yaml\n"},
		"folder, under WSL 1": {
			wslbridge.Launcher{Registered: two, WorkDir: `\\wsl$\arch\home`},
			"warn  distro          Arch, this folder is in it; it runs under WSL 1, which is not tested\n  -> in PowerShell run: wsl --set-version Arch 2\n",
		},
		"only one": {wslbridge.Launcher{Registered: wslbridge.Registered{Distros: two.Distros[:1]}}, "ok    distro          Ubuntu, the only one\n"},
		"unknown": {
			wslbridge.Launcher{Registered: two, Distro: wslbridge.Wish{Name: "Suse", Source: "--distro"}},
			"FAIL  distro          no such WSL distro: \"Suse\" (from --distro)\n  -> installed are: Ubuntu, Arch\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := chosenDistro(&tc.launcher)
			if diff := cmp.Diff(tc.want, findingLines([]finding{found})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDoctorInsideWSL(t *testing.T) {
	for name, tc := range map[string]struct {
		printed, said string
		exit          int
		err           error
		want          string
	}{
		"findings":         {`[{"name":"a","status":"fail","detail":"d","remedy":"r"}]`, "noise", 1, nil, "FAIL  a               d\n  -> r\n"},
		"nothing came":     {"", "sh: not found", 127, nil, "FAIL  inside WSL      doctor inside Ubuntu ended with status 127 and said: sh: not found\n  -> in PowerShell run: wsl -d Ubuntu -- true, and see what it says\n"},
		"an error of ours": {"", "", 1, errors.New("the disk is full; in PowerShell run: df"), "FAIL  inside WSL      the disk is full\n  -> in PowerShell run: df\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := findingLines(insideFindings("Ubuntu", []byte(tc.printed), tc.said, tc.exit, tc.err))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsOnMappedDrivesAreSpelledByTheirTarget(t *testing.T) {
	drives := map[string]string{"N": `\\server\share`, "S": `D:\`}
	for path, want := range map[string]string{
		`n:\a\b`: `\\server\share\a\b`, `S:\a`: `D:\a`, `C:\a`: `C:\a`, `\\x\y`: `\\x\y`, "": "",
	} {
		if got := withoutMapping(path, drives); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
