package tools

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

// gitVerbFlags keep a repository's configuration and attributes from running
// programs for a diff. They stand behind the verb.
const gitVerbFlags = " --no-ext-diff --no-textconv"

// gitSetting is one git configuration variable.
type gitSetting struct{ key, value string }

// safeGitSettings hold for lines that run without a question: what a
// repository's own configuration could make git run is off.
func safeGitSettings() []gitSetting {
	return []gitSetting{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", "/dev/null"},
		{"log.showSignature", "false"},
		// format.pretty can ask for signatures too (%G?), which a program checks.
		{"gpg.program", "false"},
		{"gpg.openpgp.program", "false"},
		{"gpg.x509.program", "false"},
		{"gpg.ssh.program", "false"},
		// The diff of a submodule is made by a git that gets no flags.
		{"diff.submodule", "short"},
		{"status.submoduleSummary", "false"},
		// A folder of a repository can look like a bare repository, with a
		// configuration that came with a clone.
		{"safe.bareRepository", "explicit"},
	}
}

// withGitSettings returns env with settings that are stronger than those of any
// configuration file (git-config(1), GIT_CONFIG_COUNT). Those that env has
// already stay.
func withGitSettings(env []string, settings []gitSetting) []string {
	if len(settings) == 0 {
		return env
	}
	count, _ := strconv.Atoi(lookup(env, "GIT_CONFIG_COUNT"))
	for _, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, s.value))
		count++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count))
}

// lookup returns the value of a variable in an environment, the last one as
// exec.Cmd takes it.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// safeGitVerb is a git verb that only reads.
type safeGitVerb struct {
	name string
	// flags are the safe ones, separated by blanks. One that ends in "=" has a
	// value behind the sign, one that ends in ":" has one in the next word or
	// attached, and one that ends in "*" may have one attached.
	flags string
	// operands says whether revisions and paths may follow.
	operands bool
	// diffs says that it can show diffs, and so takes gitVerbFlags.
	diffs bool
}

const gitDiffFlags = "-p -u --patch --no-patch -s --stat --stat= --numstat --shortstat --compact-summary --summary --name-only --name-status --raw -z " +
	"--color --color= --no-color --word-diff --word-diff= --color-words -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines " +
	"-U* --unified= --diff-filter= -M -C --find-renames --find-copies --no-renames --full-index --binary -R --minimal --patience --histogram --relative -W --function-context --check "

const gitLogFlags = gitDiffFlags + "--oneline --graph --all --branches --tags --remotes --decorate --decorate= --no-decorate --follow -n: --max-count= --skip= " +
	"--since= --after= --until= --before= --author= --committer= --grep= -i -E -F -S: -G: --format= --pretty= --pretty --abbrev-commit --abbrev= --no-merges --merges " +
	"--first-parent --reverse --date= --topo-order --date-order --left-right --cherry-pick --no-notes -c --cc -m "

func safeGitVerbs() []safeGitVerb {
	return []safeGitVerb{
		{"status", "-s --short -sb -b --branch --porcelain --porcelain= --long -u* --untracked-files= --untracked-files --ignored -z --show-stash --ahead-behind", true, false},
		{"diff", gitDiffFlags + "--cached --staged --merge-base", true, true},
		{"log", gitLogFlags, true, true},
		{"show", gitLogFlags, true, true},
		{"shortlog", "-s -n -e -c --no-merges --since= --until=", true, false},
		{"branch", "-a -r -v -vv --all --remotes --list --show-current --no-color --verbose", false, false},
		{"tag", "-l --list --sort=", false, false},
		{"remote", "-v --verbose", false, false},
		{"rev-parse", "--show-toplevel --abbrev-ref --abbrev-ref= --short --short= --verify --git-dir --is-inside-work-tree --show-prefix --show-cdup --symbolic-full-name -q", true, false},
		{"rev-list", "--count --all --max-count= -n: --left-right --since= --until= --first-parent --no-merges", true, false},
		{"ls-files", "-c -d -m -o -i -s -t -v -z --cached --deleted --modified --others --exclude-standard --stage --full-name --error-unmatch", true, false},
		{"ls-tree", "-r -d -t -l -z --name-only --name-status --long --full-tree --full-name", true, false},
		{"describe", "--tags --always --long --abbrev= --all --exact-match --dirty", true, false},
		{"merge-base", "-a --all --is-ancestor --fork-point", true, false},
		{"name-rev", "--name-only --tags", true, false},
		{"stash list", "", false, false},
		{"worktree list", "--porcelain", false, false},
		{"version", "", false, false},
		{"count-objects", "-v -H", false, false},
	}
}

// safeGit allows verbs that only read, with listed flags.
func safeGit(words []string, kinds []wordKind) (safety, bool) {
	at := 1
	for at < len(words) && words[at] == "--no-pager" {
		at++
	}
	if at >= len(words) || slices.Contains(kinds, wordGlob) {
		return safety{}, false
	}
	if len(words) == 2 && words[1] == "--version" {
		return safety{}, true
	}
	for _, verb := range safeGitVerbs() {
		name := strings.Fields(verb.name)
		if len(words) < at+len(name) || !slices.Equal(words[at:at+len(name)], name) {
			continue
		}
		reads, ok := verb.use(words[at+len(name):])
		use := safety{reads: append(reads, ".")}
		if verb.diffs {
			use.gitVerb = at
		}
		return use, ok
	}
	return safety{}, false
}

// use checks the words behind the verb and returns the paths among them.
func (v safeGitVerb) use(words []string) (reads []string, ok bool) {
	flags := strings.Fields(v.flags)
	var operands []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, _, hasValue := strings.Cut(word, "=")
		switch {
		case word == "--":
			reads = append(reads, words[i+1:]...)
			operands = append(operands, words[i:]...)
			i = len(words)
		case len(word) < 2 || word[0] != '-':
			reads = append(reads, revisionPaths(word)...)
			operands = append(operands, word)
		case isCount(word[1:]) && slices.Contains(flags, "-n:"): // -5
		case slices.Contains(flags, word), slices.Contains(flags, word[:2]+"*"):
		case hasValue && slices.Contains(flags, name+"="):
		case strings.HasPrefix(word, "--"):
			return nil, false
		case slices.Contains(flags, word[:2]+":"):
			if len(word) == 2 {
				i++
			}
		default:
			return nil, false
		}
	}
	if v.name == "diff" && len(reads) > 1 && !slices.ContainsFunc(operands, isRevision) {
		return nil, false // outside a repository it compares any two folders
	}
	return reads, v.operands || len(operands) == 0
}

func isCount(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

// isRevision reports whether an operand of git is no file's name: HEAD~1,
// main..topic, @{u}.
func isRevision(word string) bool {
	return !isPath(word) && (strings.ContainsAny(word, "~^@") || strings.Contains(word, ".."))
}

// isPath reports whether an operand of git can be nothing but a path.
func isPath(word string) bool { return strings.HasPrefix(word, "/") || goesUp(word) }

// goesUp reports whether a path has the element `..`.
func goesUp(word string) bool { return slices.Contains(strings.Split(word, "/"), "..") }

// revisionPaths returns the paths that an operand of git names if it is no
// revision: those of HEAD:path and :0:path, and of both ends of a range.
func revisionPaths(word string) []string {
	if _, path, ok := strings.Cut(word, ":"); ok {
		return []string{path, path[strings.IndexByte(path, ':')+1:]}
	}
	if isPath(word) {
		return []string{word}
	}
	ends := []string{word}
	if from, to, ok := strings.Cut(word, ".."); ok {
		ends = []string{from, strings.TrimPrefix(to, ".")}
	}
	var paths []string
	for _, end := range ends {
		if !strings.Contains(end, "/") {
			end, _, _ = strings.Cut(end, "~") // HEAD~1 is no short name of a file
		}
		if end != "" {
			paths = append(paths, strings.ReplaceAll(end, "~", "_"))
		}
	}
	return paths
}

// askForRepositories takes the leave of a safe line away where a repository
// makes one of its git commands unsafe.
func (t *Toolset) askForRepositories(ctx context.Context, ws *agent.Workspace, line *classified) {
	if line.command.Verdict != agent.VerdictSafe {
		return
	}
	env := t.shellOptions(ctx, ws, *line).env
	for i, call := range line.command.Calls {
		if call.Words[0] != "git" {
			continue
		}
		reason := t.unsafeRepository(ctx, env, call)
		if reason == "" {
			continue
		}
		line.command.Calls[i].Safe = false
		line.command.Verdict, line.command.Reason = agent.VerdictAsk, reason
		line.reads, line.run = nil, line.command.Line
	}
}

// unsafeRepository returns why a safe git command is not safe where it runs, or
// "". Programs that filter files (gitattributes(5)) are run by git status and
// git diff and cannot be turned off without knowing their names; those of the
// person's own configuration are trusted. Outside a repository git diff shows
// any two folders.
func (t *Toolset) unsafeRepository(ctx context.Context, env []string, call agent.SimpleCommand) string {
	argv := t.shellArgv(`git config --show-scope --name-only --get-regexp '^(core\.repositoryformatversion|filter\..*\.(clean|smudge|process))$'`)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = call.Dir, env
	settings, _ := cmd.Output() // it fails when there are none
	inRepository := false
	for line := range strings.Lines(string(settings)) {
		scope, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch {
		case scope != "local" && scope != "worktree":
		case strings.HasPrefix(name, "filter."):
			return "the repository's own configuration names a program to run: " + name
		default:
			inRepository = true
		}
	}
	if !inRepository && slices.Contains(call.Words, "diff") {
		return "git diff compares any two folders here, as this is no repository"
	}
	return ""
}
