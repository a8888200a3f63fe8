package tools

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judge looks for hardline and dangerous commands in one simple command, also
// behind wrappers such as sudo and inside scripts given to a shell. fed says
// that input or words of the command come from another one.
func (r *lineReader) judge(words []string, fed bool) {
	for _, inner := range innerCommands(words) {
		inner = slices.Clone(inner)
		inner[0] = programName(inner[0])
		if reason := r.hardline(inner); reason != "" {
			r.never = reason
		}
		if r.danger == "" {
			r.danger = dangerOf(inner)
		}
		switch {
		case isInterpreter(inner[0]):
			r.judgeFed(fed)
			r.script(inner)
		case inner[0] == "eval":
			r.judgeFed(fed)
			r.nested(strings.Join(inner[1:], " "))
		case isDownload(inner):
			r.downloads = true
		}
	}
}

func (r *lineReader) judgeFed(fed bool) {
	if fed && r.downloads {
		r.danger = "runs what it downloads or decodes"
	}
}

// script judges the script in `sh -c SCRIPT`.
func (r *lineReader) script(words []string) {
	for i, word := range words[:len(words)-1] {
		if i > 0 && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") {
			r.nested(words[i+1])
			return
		}
	}
}

// nested judges a line inside the line. Only what never runs or is dangerous
// counts; the outer command asks by itself.
func (r *lineReader) nested(line string) {
	if *r.scripts == 0 {
		r.danger = "nests scripts in scripts"
		return
	}
	*r.scripts--
	stmts, _ := r.parse(line)
	inner := lineReader{classifier: r.classifier, dir: r.dir, dirKnown: true, downloads: r.downloads, scripts: r.scripts}
	inner.stmts(stmts, false)
	if inner.never != "" {
		r.never = inner.never
	}
	if r.danger == "" {
		r.danger = inner.danger
	}
}

// innerCommands returns a command and what it may run in turn: every rest of a
// wrapper's words, since which of its flags take a value need not be known, and
// what find executes.
func innerCommands(words []string) [][]string {
	const maxWrapped = 12
	all := [][]string{words}
	switch programName(words[0]) {
	case "sudo", "doas", "env", "nohup", "nice", "ionice", "timeout", "time", "command", "exec", "builtin",
		"stdbuf", "setsid", "xargs", "busybox", "watch", "chroot", "unshare", "wsl", "cmd":
		for i := 1; i < min(len(words), maxWrapped); i++ {
			all = append(all, words[i:])
		}
	case "find":
		for i, word := range words[:len(words)-1] {
			if strings.HasPrefix(word, "-exec") || strings.HasPrefix(word, "-ok") {
				all = append(all, words[i+1:])
			}
		}
	}
	return all
}

// programName is a command's name without folder and .exe.
func programName(word string) string {
	name := word[strings.LastIndexAny(word, `/\`)+1:]
	if cut := len(name) - len(".exe"); cut > 0 && strings.EqualFold(name[cut:], ".exe") {
		name = name[:cut]
	}
	return name
}

func isInterpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "perl", "ruby", "node", "php", "source", "":
		return name != ""
	}
	return false
}

func isDownload(words []string) bool {
	switch words[0] {
	case "curl", "wget":
		return true
	case "base64", "base32", "xxd", "openssl":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-d") || w == "-r" || w == "--decode" || w == "-D" })
	}
	return false
}

// hardline returns why a command never runs, or "": what it would destroy is
// the system, a disk or everything the person has.
func (r *lineReader) hardline(words []string) string {
	name, args := words[0], words[1:]
	switch {
	case name == "rm" && hasFlag(args, "rR", "--recursive"):
		if slices.Contains(args, "--no-preserve-root") {
			return "it deletes the whole system"
		}
		for _, arg := range operands(args) {
			if r.isVital(arg) {
				return "it deletes " + arg
			}
		}
	case strings.HasPrefix(name, "mkfs"), name == "mke2fs":
		return "it formats a disk"
	case name == "mkswap", name == "newfs", name == "blkdiscard", name == "shred",
		name == "wipefs" && hasFlag(args, "a", "--all"), name == "sgdisk" && hasFlag(args, "Zo", "--zap-all"):
		if slices.ContainsFunc(args, isBlockDevice) {
			return "it erases a disk"
		}
	case name == "diskutil":
		if len(args) > 0 && strings.HasPrefix(strings.ToLower(args[0]), "erase") {
			return "it erases a disk"
		}
	case name == "dd":
		for _, arg := range args {
			if file, ok := strings.CutPrefix(arg, "of="); ok && isBlockDevice(file) {
				return "it overwrites the device " + file
			}
		}
	case name == "tee", name == "cp":
		if to := operands(args); len(to) > 0 && isBlockDevice(to[len(to)-1]) {
			return "it overwrites the device " + to[len(to)-1]
		}
	case name == "kill" && len(args) > 0 && args[len(args)-1] == "-1":
		return "it ends every process"
	case name == "shutdown", name == "reboot", name == "halt", name == "poweroff",
		(name == "init" || name == "telinit") && len(args) > 0 && (args[0] == "0" || args[0] == "6"):
		return "it shuts the machine down"
	case name == "systemctl":
		if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(strings.Fields("poweroff reboot halt kexec"), a) }) {
			return "it shuts the machine down"
		}
	case isWindowsShell(name) && strings.Contains(strings.Join(args, " "), "--unregister"):
		return "it deletes a WSL distribution"
	}
	return ""
}

// isVital reports whether deleting arg recursively takes the system, the
// person's home, or a whole Windows drive.
func (r *lineReader) isVital(arg string) bool {
	arg = strings.ReplaceAll(arg, "$HOME", r.home)
	target := r.absolute(arg)
	if path.Base(target) == "*" {
		target = path.Dir(target)
	}
	if target == filepath.Clean(r.home) {
		return true
	}
	switch strings.ToLower(target) {
	case "/", "/home", "/root", "/etc", "/usr", "/var", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/opt", "/mnt", "/users", "/system", "/library", "/applications":
		return true
	}
	return isWindowsRoot(target)
}

// isWindowsRoot matches a mounted Windows drive and its vital folders: /mnt/c,
// /mnt/c/Users, /mnt/c/Windows.
func isWindowsRoot(target string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(target), "/mnt/")
	if !ok {
		return false
	}
	drive, folder, _ := strings.Cut(rest, "/")
	return len(drive) == 1 && (folder == "" || folder == "users" || folder == "windows" || folder == "program files")
}

// isWindowsShell matches the programs of Windows through which wsl.exe is run.
func isWindowsShell(name string) bool {
	return slices.Contains([]string{"wsl", "cmd", "powershell", "pwsh"}, strings.ToLower(name))
}

func isBlockDevice(file string) bool {
	device, ok := strings.CutPrefix(path.Clean(file), "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "mapper/", "md"} {
		if strings.HasPrefix(device, prefix) {
			return true
		}
	}
	return false
}

// isForkBomb matches a function that calls itself in a pipe or in the
// background: `:(){ :|:& };:`.
func isForkBomb(f *syntax.FuncDecl) bool {
	if f.Name == nil {
		return false
	}
	found := false
	callsItself := func(n syntax.Node) bool {
		calls := false
		syntax.Walk(n, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			calls = calls || ok && len(call.Args) > 0 && call.Args[0].Lit() == f.Name.Value
			return true
		})
		return calls
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && callsItself(n)
		case *syntax.Stmt:
			found = found || n.Background && callsItself(n)
		}
		return !found
	})
	return found
}

// dangerOf returns what is dangerous about a command, in words that complete
// "this command ...", or "".
func dangerOf(words []string) string {
	name, args := words[0], words[1:]
	switch name {
	case "rm":
		if hasFlag(args, "rR", "--recursive") {
			return "deletes recursively"
		}
	case "find":
		if containsAny(args, "-delete", "rm") {
			return "deletes what it finds"
		}
	case "xargs":
		if slices.ContainsFunc(args, func(a string) bool { return programName(a) == "rm" }) {
			return "deletes the files it is given"
		}
	case "chmod":
		if slices.ContainsFunc(args, isWorldWritable) {
			return "makes files writable for everyone"
		}
	case "chown":
		if hasFlag(args, "R", "--recursive") {
			return "changes owners recursively"
		}
	case "dd":
		return "copies raw data"
	case "sudo", "doas", "su":
		return "runs as another user"
	case "systemctl", "service":
		if containsAny(args, "stop", "restart", "disable", "mask") {
			return "stops a system service"
		}
	case "pkill", "killall":
		return "ends processes by name"
	case "kill":
		if containsAny(args, "-9", "-KILL", "-SIGKILL") {
			return "kills processes"
		}
	case "git":
		return gitDanger(args)
	case "psql", "mysql", "mariadb", "sqlite3", "sqlcmd":
		return sqlDanger(strings.Join(args, " "))
	case "crontab":
		return "changes scheduled commands"
	case "docker", "podman":
		if containsAny(args, "prune", "--privileged", "rmi") {
			return "removes or breaks out of containers"
		}
	case "npm", "cargo", "twine", "gem":
		if containsAny(args, "publish", "upload", "push", "unpublish") {
			return "publishes a package"
		}
	}
	if reason := windowsDanger(name, args); reason != "" {
		return reason
	}
	if slices.ContainsFunc(args, isMetadataAddress) {
		return "asks the cloud's metadata service for credentials"
	}
	return ""
}

func isMetadataAddress(arg string) bool {
	return strings.Contains(arg, "169.254.169.254") || strings.Contains(arg, "metadata.google.internal")
}

func gitDanger(args []string) string {
	verb := gitVerb(args)
	switch {
	case verb == "reset" && slices.Contains(args, "--hard"),
		verb == "checkout" && containsAny(args, "--", ".", "-f", "--force"),
		verb == "restore" && !slices.Contains(args, "--staged"):
		return "discards uncommitted changes"
	case verb == "clean" && hasFlag(args, "fdxX", "--force"):
		return "deletes untracked files"
	case verb == "push" && slices.ContainsFunc(args, func(a string) bool {
		return a == "-f" || strings.HasPrefix(a, "--force") || a == "--delete" || a == "-d" || a == "--mirror" || strings.HasPrefix(a, "+")
	}):
		return "rewrites or deletes a remote branch"
	case verb == "branch" && containsAny(args, "-D"), verb == "stash" && containsAny(args, "drop", "clear"),
		verb == "filter-branch", verb == "reflog" && containsAny(args, "expire"):
		return "deletes commits"
	}
	return ""
}

// gitVerb returns what git is to do, behind the flags for git itself.
func gitVerb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, args[i]):
			i++ // its value
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

func sqlDanger(sql string) string {
	sql = strings.ToUpper(sql)
	switch {
	case strings.Contains(sql, "DROP TABLE"), strings.Contains(sql, "DROP DATABASE"), strings.Contains(sql, "DROP SCHEMA"), strings.Contains(sql, "TRUNCATE "):
		return "drops or empties a table"
	case strings.Contains(sql, "DELETE FROM") && !strings.Contains(sql, " WHERE "):
		return "deletes every row of a table"
	}
	return ""
}

// windowsDanger looks at what runs on the Windows side through interop.
func windowsDanger(name string, args []string) string {
	lower := strings.ToLower(strings.Join(args, " "))
	switch strings.ToLower(name) {
	case "powershell", "pwsh":
		for _, part := range []string{"-enc", "-ec ", "iex", "invoke-expression", "remove-item", "clear-disk", "format-volume", "iwr ", "invoke-webrequest"} {
			if strings.Contains(lower, part) {
				return "runs PowerShell that deletes, downloads or hides what it does"
			}
		}
	case "del", "erase", "rd", "rmdir":
		if strings.Contains(lower, "/s") {
			return "deletes recursively"
		}
	case "taskkill":
		return "ends processes"
	case "format", "diskpart", "vssadmin", "wbadmin", "bcdedit":
		return "changes disks or the Windows boot configuration"
	case "icacls":
		if strings.Contains(lower, "everyone") {
			return "makes files writable for everyone"
		}
	case "reg":
		if strings.HasPrefix(lower, "delete") || strings.HasPrefix(lower, "add") {
			return "changes the Windows registry"
		}
	}
	return ""
}

func isWorldWritable(mode string) bool {
	if len(mode) >= 3 && strings.Trim(mode, "01234567") == "" {
		return (mode[len(mode)-1]-'0')&2 != 0
	}
	who, what, ok := strings.Cut(mode, "+")
	return ok && strings.Contains(what, "w") && (who == "" || strings.ContainsAny(who, "oa"))
}

// hasFlag reports whether one of the one-letter flags in letters, alone or in a
// cluster, or the long flag is among args. Flags may stand behind operands.
func hasFlag(args []string, letters, long string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		if strings.HasPrefix(a, "--") {
			return len(a) > 3 && strings.HasPrefix(long, a) // GNU tools take abbreviations
		}
		return len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], letters)
	})
}

func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return len(a) > 1 && a[0] == '-' })
}

func containsAny(args []string, words ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, a) })
}
