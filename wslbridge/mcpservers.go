package wslbridge

import (
	"slices"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// This file makes the stdio servers of mcpServers, which the client describes as it would start them
// on Windows, ones that an agent inside WSL can start:
//
//   - cmd /c X and X.cmd become X when X is found inside WSL (ai-toolbox#220).
//   - A Windows program gets its Linux path and runs by interop: from a folder on a drive, because
//     cmd.exe refuses a folder of WSL and says so on stdout (hermes-agent#8305), and with the names
//     of its env in WSLENV, since Windows programs see no other variable of Linux.
//   - A Linux program gets those arguments translated that are wholly an absolute Windows path.
//
// Values of env stay. A server that cannot be translated stays as it is: it fails by itself, with a
// message of its own, and the session goes on without it.

// mcpStart is how a server is started inside WSL.
type mcpStart struct {
	command string
	before  []string // arguments in front of the server's own
	dropped int      // of the server's own arguments, how many of the first are left out
	windows bool     // the program is one of Windows
}

const (
	cmdPath = `C:\Windows\System32\cmd.exe`

	// runFromFolder is a script whose $0 is a folder and whose arguments are a command to run there.
	runFromFolder = `cd "$0" && exec "$@"`
)

// appendMCPServerEdits appends what the server at the given place needs. cwd is the session's
// folder inside WSL.
func (r *Rewriter) appendMCPServerEdits(edits []edit, frame []byte, at span, cwd string) []edit {
	s, ok := parseMCPServer(frame, at)
	if !ok || s.runsFromFolder() {
		return edits
	}
	start, err := r.startMCPServer(s)
	if err != nil {
		r.log.Warn("an MCP server cannot be started inside WSL", "command", s.text(s.command), "error", err)
		return edits
	}
	if !start.windows {
		edits = r.appendArgPathEdits(edits, s, start.dropped)
		return appendStartEdits(edits, s, start)
	}
	return r.appendWSLENVEdit(appendStartEdits(edits, s, r.fromDrive(start, cwd)), s)
}

// startMCPServer decides by the command. The error is that of a Windows path.
func (r *Rewriter) startMCPServer(s *mcpServer) (mcpStart, error) {
	command := s.text(s.command)
	stem, extension := programName(command)
	switch {
	case pathxlate.FormOf(command) == pathxlate.FormPOSIX:
	case stem == "cmd" && (extension == "" || extension == ".exe"):
		if program, dropped, ok := r.unwrapCmd(s); ok {
			return mcpStart{command: program, dropped: dropped}, nil
		}
		return r.startWindowsProgram(cmdPath)
	case extension == ".cmd" || extension == ".bat":
		if program, ok := r.insideWSL(command); ok {
			return mcpStart{command: program}, nil
		}
		start, err := r.startWindowsProgram(cmdPath)
		start.before = append(start.before, "/c", command)
		return start, err
	case pathxlate.FormOf(command).IsWindows():
		return r.startWindowsProgram(command)
	}
	return mcpStart{command: command, windows: extension == ".exe"}, nil
}

// startWindowsProgram starts what Windows names by an absolute path, which may be a Linux program
// below \\wsl.localhost.
func (r *Rewriter) startWindowsProgram(path string) (mcpStart, error) {
	linux, err := r.enter(path, pathxlate.Translator.ToLinux)
	_, extension := programName(linux)
	return mcpStart{command: linux, windows: extension == ".exe"}, err
}

// fromDrive lets a Windows program start from a folder on a drive, where the session's is on none.
func (r *Rewriter) fromDrive(start mcpStart, cwd string) mcpStart {
	v, _ := r.current()
	if windows, err := v.translator.ToWindows(cwd); err == nil && pathxlate.FormOf(windows) == pathxlate.FormDrive {
		return start
	}
	folder, err := v.translator.ToLinux(`C:\`)
	if err != nil {
		return start
	}
	start.before = append([]string{"-c", runFromFolder, folder, start.command}, start.before...)
	start.command = "/bin/sh"
	return start
}

// runsFromFolder reports whether another bridge before this one did what fromDrive does.
func (s *mcpServer) runsFromFolder() bool {
	return len(s.args) > 1 && s.text(s.args[1]) == runFromFolder
}

// unwrapCmd returns the program that a command line of cmd.exe runs, and how many arguments belong
// to cmd.exe, when the program is found inside WSL.
func (r *Rewriter) unwrapCmd(s *mcpServer) (program string, dropped int, ok bool) {
	for i, arg := range s.args {
		text := s.text(arg)
		if !strings.HasPrefix(text, "/") {
			break
		}
		if strings.EqualFold(text, "/c") && i+1 < len(s.args) {
			program, ok = r.insideWSL(s.text(s.args[i+1]))
			return program, i + 2, ok
		}
	}
	return "", 0, false
}

// insideWSL returns the name by which a program that is given by a bare name, as Windows spells it,
// is found inside WSL.
func (r *Rewriter) insideWSL(name string) (string, bool) {
	if r.cfg.LookPath == nil || strings.ContainsAny(name, `/\: `) {
		return "", false
	}
	for _, extension := range []string{".cmd", ".bat", ".exe"} {
		if stem, ok := cutSuffixFold(name, extension); ok {
			name = stem
			break
		}
	}
	_, found := r.cfg.LookPath(name)
	return name, found
}

// programName returns the last name of a path, in lower case and without its extension, and the
// extension with its dot.
func programName(path string) (stem, extension string) {
	name := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot], name[dot:]
	}
	return name, ""
}

func cutSuffixFold(s, suffix string) (string, bool) {
	cut := len(s) - len(suffix)
	if cut <= 0 || !strings.EqualFold(s[cut:], suffix) {
		return s, false
	}
	return s[:cut], true
}

// appendStartEdits appends what turns a server's command and arguments into those of start.
func appendStartEdits(edits []edit, s *mcpServer, start mcpStart) []edit {
	if start.command != s.text(s.command) {
		edits = append(edits, edit{s.command, quoted(start.command)})
	}
	if len(start.before) == 0 && start.dropped == 0 {
		return edits
	}
	var text []byte
	for i, arg := range start.before {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendQuoted(text, arg)
	}
	switch {
	case s.argList.end == 0:
		behind := span{s.command.end, s.command.end}
		return append(edits, edit{behind, slices.Concat([]byte(`,"args":[`), text, []byte{']'})})
	case len(s.args) == 0:
		return append(edits, edit{s.argList, slices.Concat([]byte{'['}, text, []byte{']'})})
	case start.dropped == len(s.args):
		return append(edits, edit{span{s.args[0].start, s.args[start.dropped-1].end}, text})
	}
	if len(text) > 0 {
		text = append(text, ',')
	}
	return append(edits, edit{span{s.args[0].start, s.args[start.dropped].start}, text})
}

// appendArgPathEdits translates the arguments of a Linux program, the first dropped ones left out.
func (r *Rewriter) appendArgPathEdits(edits []edit, s *mcpServer, dropped int) []edit {
	for _, arg := range s.args[dropped:] {
		text := s.text(arg)
		if !isWholeWindowsPath(text) {
			continue
		}
		if linux, err := r.enter(text, pathxlate.Translator.ToLinux); err == nil {
			edits = append(edits, edit{arg, quoted(linux)})
		}
	}
	return edits
}

// isWholeWindowsPath reports whether an argument can only be meant as an absolute Windows path,
// which "//x" and "C:" need not be.
func isWholeWindowsPath(arg string) bool {
	form := pathxlate.FormOf(arg)
	return form == pathxlate.FormDrive && len(arg) > len("C:") ||
		form == pathxlate.FormUNC && arg[0] == '\\' ||
		form == pathxlate.FormWSLUNC || form == pathxlate.FormVerbatimDrive || form == pathxlate.FormVerbatimUNC
}

// appendWSLENVEdit lists the names of a server's env in its WSLENV.
func (r *Rewriter) appendWSLENVEdit(edits []edit, s *mcpServer) []edit {
	list, given := r.cfg.WSLENV, span{}
	for _, v := range s.env {
		if v.name == "WSLENV" {
			list, given = s.text(v.value), v.value
		}
	}
	var names []string
	for entry := range strings.SplitSeq(list, ":") {
		if entry != "" {
			names = append(names, entry)
		}
	}
	inherited := len(names)
	for _, v := range s.env {
		if v.name == "WSLENV" || v.name == "" || strings.ContainsAny(v.name, ":/") { // no entry can be spelled so
			continue
		}
		if !slices.ContainsFunc(names, func(entry string) bool { return wslenvName(entry) == v.name }) {
			names = append(names, v.name)
		}
	}
	if len(names) == inherited {
		return edits
	}
	value := quoted(strings.Join(names, ":"))
	if given.end > 0 {
		return append(edits, edit{given, value})
	}
	return append(edits, edit{span{s.envEnd, s.envEnd}, slices.Concat([]byte(`,{"name":"WSLENV","value":`), value, []byte{'}'})})
}

// wslenvName returns the variable's name in an entry NAME/flags of WSLENV.
func wslenvName(entry string) string {
	name, _, _ := strings.Cut(entry, "/")
	return name
}
