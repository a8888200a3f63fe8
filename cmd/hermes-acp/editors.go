package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"
)

// editor is a program that people work in, and how it is told to start an agent.
type editor struct {
	name  string // on the command line
	title string
	// file is where the settings go, on each operating system as people there
	// write it.
	file settingsFile
	// language of settings, as in a Markdown fence.
	language string
	// settings takes the command as a quoted string, which JSON, Lua and Emacs
	// Lisp write alike.
	settings func(command string) string
}

// settingsFile is the path of one file by operating system.
type settingsFile struct{ linux, macOS, windows string }

func (f settingsFile) here() string {
	switch runtime.GOOS {
	case "windows":
		return f.windows
	case "darwin":
		return f.macOS
	}
	return f.linux
}

// editors are those whose settings we know. README.md shows the same ones.
func editors() []editor {
	return []editor{
		{
			name: "zed", title: "Zed", language: "json",
			file: settingsFile{"~/.config/zed/settings.json", "~/.config/zed/settings.json", `%APPDATA%\Zed\settings.json`},
			settings: func(command string) string {
				return `{ "agent_servers": { "Hermes": { "type": "custom", "command": ` + command + `, "args": [], "env": {} } } }`
			},
		},
		{
			name: "vscode", title: "VS Code, with the extension ACP Client (formulahendry.acp-client)", language: "json",
			file: settingsFile{"~/.config/Code/User/settings.json", "~/Library/Application Support/Code/User/settings.json", `%APPDATA%\Code\User\settings.json`},
			settings: func(command string) string {
				return `{ "acp.agents": { "Hermes": { "command": ` + command + `, "args": [], "env": {} } } }`
			},
		},
		{
			name: "jetbrains", title: "JetBrains", language: "json",
			file: settingsFile{"~/.jetbrains/acp.json", "~/.jetbrains/acp.json", `%USERPROFILE%\.jetbrains\acp.json`},
			settings: func(command string) string {
				return `{ "agent_servers": { "Hermes": { "command": ` + command + `, "args": [], "env": {} } } }`
			},
		},
		{
			name: "neovim", title: "Neovim, with codecompanion.nvim", language: "lua",
			file: settingsFile{"~/.config/nvim/init.lua", "~/.config/nvim/init.lua", `%LOCALAPPDATA%\nvim\init.lua`},
			settings: func(command string) string {
				return `require("codecompanion").setup({
  adapters = {
    acp = {
      hermes = function()
        return require("codecompanion.adapters").extend("gemini_cli", {
          name = "hermes",
          formatted_name = "Hermes",
          commands = { default = { ` + command + ` } },
          defaults = { timeout = 20000 },
          handlers = { auth = function() return true end },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "hermes" } },
})`
			},
		},
		{
			name: "emacs", title: "Emacs, with agent-shell", language: "elisp",
			file: settingsFile{"~/.emacs.d/init.el", "~/.emacs.d/init.el", `%APPDATA%\.emacs.d\init.el`},
			settings: func(command string) string {
				return `(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
               (agent-shell-make-agent-config
                :identifier 'hermes
                :mode-line-name "Hermes"
                :buffer-name "Hermes"
                :shell-prompt "Hermes> "
                :shell-prompt-regexp "Hermes> "
                :client-maker (lambda (buffer)
                                (agent-shell--make-acp-client
                                 :command ` + command + `
                                 :context-buffer buffer)))))`
			},
		},
	}
}

// editorNamed returns the editor that a person calls name.
func editorNamed(name string) (editor, error) {
	var names []string
	for _, e := range editors() {
		if strings.EqualFold(e.name, name) {
			return e, nil
		}
		names = append(names, e.name)
	}
	return editor{}, fmt.Errorf("there is no editor %q here; known are %s", name, strings.Join(names, ", "))
}

// settingsFor are the settings that start program, a path or a name.
func (e editor) settingsFor(program string) string {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(program) // a string always has a JSON form
	return e.settings(strings.TrimSpace(quoted.String()))
}

// note is what a person has to know about program in this editor; mostly nothing.
func (e editor) note(program string) string {
	if e.name == "vscode" && runtime.GOOS == "windows" && strings.Contains(program, " ") {
		return "The extension starts programs through cmd.exe without quotes: move hermes-acp.exe into a folder without blanks in its path."
	}
	return ""
}

func editorsCommand() *cli.Command {
	return &cli.Command{
		Name: "editors", Usage: "print the settings that make an editor start this program", ArgsUsage: "[NAME]",
		Action: func(c *cli.Context) error {
			shown := editors()
			if c.Args().Present() {
				e, err := editorNamed(c.Args().First())
				if err != nil {
					return err
				}
				shown = []editor{e}
			}
			program, install := installedProgram()
			p := paintFor(c.App.Writer)
			if install {
				fmt.Fprintln(c.App.ErrWriter, "First install the program: go install ./cmd/hermes-acp")
			}
			if distro := os.Getenv("WSL_DISTRO_NAME"); distro != "" {
				fmt.Fprintln(c.App.ErrWriter, "These are for editors inside "+distro+". For one on Windows, in PowerShell run: hermes-acp editors")
			}
			for i, e := range shown {
				if i > 0 {
					fmt.Fprintln(c.App.Writer)
				}
				fmt.Fprintf(c.App.Writer, "%s\nAdd to %s:\n\n%s\n", p.bold(e.title), e.file.here(), e.settingsFor(program))
				if note := e.note(program); note != "" {
					fmt.Fprintf(c.App.Writer, "\n%s\n", note)
				}
			}
			return nil
		},
	}
}
