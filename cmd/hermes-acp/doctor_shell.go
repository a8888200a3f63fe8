//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent/tools"
	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// commandShell reports which shell runs the agent's commands.
func (c *checkup) commandShell(context.Context) []finding {
	const name = "shell"
	path, err := exec.LookPath("bash")
	if err != nil || !filepath.IsAbs(path) {
		return []finding{warning(name, "bash is not on PATH, so commands run in /bin/sh and are judged as its", "install bash with the package manager: "+c.toType("sudo apt install bash"))}
	}
	return []finding{fine(name, path+" runs commands")}
}

// slowLogin is how long a login shell may take until a person notices.
const slowLogin = 2 * time.Second

// loginShell reports whether the person's shell tells its environment, which
// commands and MCP servers get, how long that takes, and what it prints, which
// breaks editors that start agents through it (zed#56176).
func (c *checkup) loginShell(ctx context.Context) []finding {
	const name = "login shell"
	start := time.Now()
	answer, err := c.login.Ask(ctx)
	return []finding{c.judgeLogin(name, answer.Chatter, len(answer.Environ), time.Since(start), err)}
}

func (c *checkup) judgeLogin(name, chatter string, variables int, took time.Duration, err error) finding {
	called := c.shell + " -l -i -c"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return warning(name, c.shell+" does not come to an end when it starts; commands get the environment of the editor", "see what it waits for: "+c.toType(called+" env"))
	case err != nil:
		return warning(name, fmt.Sprintf("%s: %v; commands get the environment of the editor", c.shell, err), "see what it does: "+c.toType(called+" env"))
	case took > slowLogin:
		return warning(name, fmt.Sprintf("%s takes %.1f s; the first command of an editor waits for it", c.shell, took.Seconds()), "see what is slow: "+c.toType(called+" exit")+", with -x in front of -l")
	case strings.TrimSpace(chatter) != "":
		return warning(name, fmt.Sprintf("the start files of %s print to stdout: %.60q; that breaks editors that start agents through a shell", c.shell, chatter),
			"in the start files print to stderr, or only for people: [ -t 1 ] && echo ...")
	}
	return fine(name, fmt.Sprintf("%s: %d variables in %d ms", c.shell, variables, took.Milliseconds()))
}

// git reports whether commands find it.
func (c *checkup) git(ctx context.Context) []finding {
	const name = "git"
	path, err := c.login.LookPath(ctx, name)
	if err != nil {
		return []finding{warning(name, "git is not on PATH", c.toType("sudo apt install git"))}
	}
	return []finding{fine(name, path)}
}

// windowsPrograms reports programs of which only the one for Windows is on PATH.
// npm and its like there are scripts with CRLF line ends (WSL#5251), which the
// agent passes over.
func (c *checkup) windowsPrograms(ctx context.Context) []finding {
	const name = "PATH"
	if c.wsl == nil {
		return nil
	}
	dirs := filepath.SplitList(variable(c.login.Environ(ctx), "PATH"))
	var only []string
	for _, program := range []string{"node", "npm", "npx", "python3", "uvx", "go", "cargo"} {
		if _, err := c.login.LookPath(ctx, program); err == nil {
			continue
		}
		for _, dir := range dirs {
			if path := filepath.Join(dir, program); filepath.IsAbs(dir) && c.onDrvfs(path) && exists(path) {
				only = append(only, path)
				break
			}
		}
	}
	if len(only) > 0 {
		return []finding{warning(name, "only Windows has "+strings.Join(only, ", ")+"; the agent does not use these",
			"install them inside the distro, such as: "+c.toType("sudo apt install nodejs npm"))}
	}
	if slices.ContainsFunc(dirs, c.onDrvfs) {
		return []finding{fine(name, "programs of Windows come last")}
	}
	return []finding{fine(name, "holds no folder of Windows")}
}

func variable(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// project reports what is special about the folder that the agent would work in.
func (c *checkup) project(context.Context) []finding {
	const name = "folder"
	dir, err := c.projectDir()
	if untranslated, ok := errors.AsType[*pathxlate.Error](err); ok {
		return []finding{warning(name, fmt.Sprintf("%s: %v", untranslated.Input, untranslated.Err), "to work in it, inside the distro: "+untranslated.Remedy)}
	}
	if err != nil {
		return []finding{warning(name, err.Error(), "name a folder that exists with --cwd")}
	}
	if !c.onDrvfs(dir) {
		return []finding{fine(name, dir)}
	}
	found := []finding{fine(name, dir+" is on a Windows drive, where many small files are slow")}
	if value, file := tools.WindowsAutocrlf(dir); value != "" {
		found = append(found, fine("git checkout", fmt.Sprintf("made by Git for Windows: git inside WSL gets core.autocrlf=%s, as in %s", value, file)))
	}
	return found
}

// projectDir is the folder as Linux names it.
func (c *checkup) projectDir() (dir string, err error) {
	dir = c.cwd
	if c.wsl != nil && pathxlate.FormOf(dir).IsWindows() {
		if dir, err = c.wsl.translator().ToLinux(dir); err != nil {
			return "", err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	_, err = os.Stat(dir)
	return dir, err
}
