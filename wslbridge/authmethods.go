package wslbridge

import (
	"bytes"
	"slices"
	"strings"
)

// terminalAuthKey is the member of _meta by which agents offered a login in a terminal before the
// protocol had a type for it. Zed and the agents of its registry still use it.
const terminalAuthKey = "terminal-auth"

// appendAuthMethodEdits makes a login in a terminal one that the client starts through the launcher. A
// method of type terminal has the client append args to the agent's command line, which is the
// launcher's, and set env there; so the launcher has to be told which arguments are the agent's and
// which variables have to cross. Those of our own agent are the launcher's as well. One of _meta names
// a command of Linux, which becomes an argument of the launcher, or the launcher itself when it is our
// own agent.
func (r *Rewriter) appendAuthMethodEdits(edits []edit, frame []byte, at span) []edit {
	if len(r.cfg.Launcher) == 0 {
		return edits
	}
	t := memberOf(frame, at, "type")
	if r.cfg.ThirdParty && isString(frame, t) && string(unquote(t.in(frame))) == "terminal" {
		args, _ := elementsOf(frame, memberOf(frame, at, "args"))
		if len(args) > 0 && !slices.Contains(r.cfg.Launcher, "--") {
			edits = append(edits, edit{span{args[0].start, args[0].start}, []byte(`"--",`)})
		}
		edits = appendAuthEnvEdit(edits, frame, memberOf(frame, at, "env"))
	}
	legacy := memberOf(frame, memberOf(frame, at, "_meta"), terminalAuthKey)
	command := memberOf(frame, legacy, "command")
	if !isString(frame, command) {
		return edits
	}
	return r.appendTerminalAuthEdits(edits, frame, legacy, command)
}

// appendTerminalAuthEdits makes the command of _meta one of the launcher.
func (r *Rewriter) appendTerminalAuthEdits(edits []edit, frame []byte, legacy, command span) []edit {
	edits = append(edits, edit{command, quoted(r.cfg.Launcher[0])})
	list := memberOf(frame, legacy, "args")
	args, _ := elementsOf(frame, list)

	var words [][]byte
	for _, flag := range launcherFlags(r.cfg.Launcher[1:], r.cfg.Distro) {
		words = append(words, quoted(flag))
	}
	if r.cfg.ThirdParty {
		words = append(words, []byte(`"--"`), command.in(frame))
	}
	for _, arg := range args {
		words = append(words, arg.in(frame))
	}
	text := slices.Concat([]byte{'['}, bytes.Join(words, []byte{','}), []byte{']'})
	if list.end > 0 {
		edits = append(edits, edit{list, text})
	} else {
		edits = append(edits, edit{span{command.end, command.end}, slices.Concat([]byte(`,"args":`), text)})
	}
	return appendAuthEnvEdit(edits, frame, memberOf(frame, legacy, "env"))
}

// launcherFlags returns the launcher's own flags, those left out that choose agent and distro, with
// the distro that the agent runs in.
func launcherFlags(words []string, distro string) []string {
	var flags []string
	if distro != "" {
		flags = append(flags, "--distro", distro)
	}
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, _, joined := strings.Cut(words[i], "=")
		switch {
		case name != "--agent" && name != "--distro":
			flags = append(flags, words[i])
		case !joined:
			i++ // its value
		}
	}
	return flags
}

// appendAuthEnvEdit lists the names of an env object in the launcher's WinningEnv, so that they cross.
func appendAuthEnvEdit(edits []edit, frame []byte, at span) []edit {
	env, ok := entriesOf(frame, at.start)
	if at.end == 0 || !ok || !env.object {
		return edits
	}
	var names []string
	end := 0
	for behind := 0; env.next(behind); {
		behind = skipValue(frame, env.at)
		names = append(names, string(unquote(env.key.in(frame))))
		end = behind
	}
	if len(names) == 0 || env.failed || slices.Contains(names, WinningEnv) {
		return edits
	}
	member := append([]byte{','}, quoted(WinningEnv)...)
	member = appendQuoted(append(member, ':'), strings.Join(names, ","))
	return append(edits, edit{span{end, end}, member})
}
