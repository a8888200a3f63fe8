package tools

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxClassified is the longest line that is parsed; a longer one asks.
const maxClassified = 64 << 10

// classified is what a command line is, by its parse.
type classified struct {
	command agent.Command
	// reads are the paths that its commands on the safe list read, absolute but
	// not clean.
	reads []string
	// run is the line to execute: the line itself, or for one that is safe the
	// same with the flags that keep a repository's configuration from running
	// programs.
	run string
}

// classifier parses lines for the shell that will run them.
type classifier struct {
	lang syntax.LangVariant
	home string // what ~ stands for
}

// classify says what a line would do in dir, as far as its text tells. It runs
// nothing, and where it is not sure the line asks.
func (c classifier) classify(line, dir string) classified {
	scripts := maxScripts
	r := &lineReader{classifier: c, dir: dir, dirKnown: true, plain: true, scripts: &scripts}
	out := classified{run: line}
	out.command = agent.Command{Line: line, Dir: dir}
	stmts, refused := c.parse(line)
	r.stmts(stmts, false)
	if refused != "" && r.never == "" {
		out.command.Reason = refused
		return out
	}

	out.command.Calls, out.command.Writes = r.calls, r.writes
	out.command.Plain = r.plain && len(r.calls) > 0
	safe := out.command.Plain
	for _, call := range r.calls {
		safe = safe && call.Safe
	}
	switch {
	case r.never != "":
		out.command.Verdict, out.command.Reason = agent.VerdictNever, r.never
	case r.danger != "":
		out.command.Dangerous, out.command.Reason = true, r.danger
	case safe:
		out.command.Verdict = agent.VerdictSafe
		out.reads = r.reads
		out.run = insertAt(line, r.gitVerbEnds, gitVerbFlags)
	case !r.plain:
		out.command.Reason = r.why
	default:
		out.command.Reason = "not on the list of commands that run without a question"
	}
	return out
}

// parse returns the line's statements and, if it is not to be judged by them,
// why. Where it does not parse they are those before the fault, which a shell
// runs before it finds it.
func (c classifier) parse(line string) (stmts []*syntax.Stmt, refused string) {
	if len(line) > maxClassified {
		return nil, "longer than " + byteCount(maxClassified)
	}
	var fault error
	for stmt, err := range syntax.NewParser(syntax.Variant(c.lang)).StmtsSeq(strings.NewReader(line)) {
		if err == nil {
			stmts = append(stmts, stmt)
		} else {
			fault = err // and no break, after which the iterator of v3.14.1 goes on and panics
		}
	}
	switch {
	case !utf8.ValidString(line), strings.ContainsFunc(line, isInvisible):
		return stmts, "holds control characters or invalid UTF-8"
	case fault != nil:
		return stmts, "does not parse as a shell line: " + fault.Error()
	}
	return stmts, ""
}

// isInvisible matches what a person does not see, or sees in another order.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// insertAt inserts text at the given offsets of line, which ascend.
func insertAt(line string, offsets []int, text string) string {
	var b strings.Builder
	at := 0
	for _, offset := range offsets {
		b.WriteString(line[at:offset])
		b.WriteString(text)
		at = offset
	}
	b.WriteString(line[at:])
	return b.String()
}

// lineReader walks a line's statements in the order in which they run.
type lineReader struct {
	classifier
	dir      string // where the next command runs
	dirKnown bool

	calls       []agent.SimpleCommand
	reads       []string
	writes      []string
	gitVerbEnds []int

	plain  bool
	why    string // the first thing that made the line not plain
	danger string
	never  string
	// downloads says that a command before this one fetches or decodes
	// something that a pipe may hand to an interpreter.
	downloads bool
	// scripts is how many more scripts inside the line (sh -c, eval) are looked
	// at; it is shared by all of them.
	scripts *int
}

const maxScripts = 16

// opaque notes that the line holds something that no rule may cover.
func (r *lineReader) opaque(why string) {
	if r.plain {
		r.plain, r.why = false, why
	}
}

// stmts reads statements that run one after the other. fed says that their
// input comes from elsewhere in the line.
func (r *lineReader) stmts(list []*syntax.Stmt, fed bool) {
	for _, s := range list {
		before := r.dir
		r.stmt(s, fed)
		if r.dir != before {
			r.dirKnown = false // whether its cd succeeded is known to && only
		}
	}
}

// inSubshell reads what has a current folder of its own.
func (r *lineReader) inSubshell(read func()) {
	dir, known := r.dir, r.dirKnown
	read()
	r.dir, r.dirKnown = dir, known
}

func (r *lineReader) stmt(s *syntax.Stmt, fed bool) {
	for _, redirect := range s.Redirs {
		fed = r.redirect(redirect) || fed
	}
	if s.Coprocess || s.Disown {
		r.opaque("starts a coprocess")
	}
	switch {
	case s.Cmd == nil:
	case s.Background:
		r.inSubshell(func() { r.command(s.Cmd, fed) })
	default:
		before := r.dir
		r.command(s.Cmd, fed)
		if s.Negated && r.dir != before {
			r.dirKnown = false // what follows runs when its cd failed
		}
	}
}

func (r *lineReader) command(cmd syntax.Command, fed bool) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		r.call(cmd, fed)
	case *syntax.BinaryCmd:
		r.binary(cmd, fed)
	case *syntax.Subshell:
		r.inSubshell(func() { r.stmts(cmd.Stmts, fed) })
	case *syntax.Block:
		r.stmts(cmd.Stmts, fed)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			r.stmt(cmd.Stmt, fed)
		}
	case *syntax.FuncDecl:
		r.opaque("declares a function")
		if isForkBomb(cmd) {
			r.never = "it is a fork bomb"
		}
		r.inside(cmd.Body)
	default:
		r.opaque("holds a loop, a condition or a declaration")
		r.inside(cmd)
	}
}

func (r *lineReader) binary(cmd *syntax.BinaryCmd, fed bool) {
	switch cmd.Op {
	case syntax.AndStmt:
		r.stmt(cmd.X, fed)
		r.stmt(cmd.Y, fed)
	case syntax.OrStmt:
		r.stmts([]*syntax.Stmt{cmd.X, cmd.Y}, fed)
	case syntax.Pipe, syntax.PipeAll:
		r.inSubshell(func() { r.stmt(cmd.X, fed) })
		r.inSubshell(func() { r.stmt(cmd.Y, true) })
	}
}

// inside reads the commands of something that already made the line not plain,
// so that hardline, dangerous and denied ones are found at any depth.
func (r *lineReader) inside(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr: // goes deeper by itself
			r.call(n, false)
			return false
		case *syntax.Redirect:
			r.redirect(n)
			return false
		}
		return true
	})
}

// redirect notes what a redirection reads or writes, and reports whether it is
// the command's input.
func (r *lineReader) redirect(redirect *syntax.Redirect) (input bool) {
	path, kind := r.word(redirect.Word)
	if kind == wordDynamic {
		r.opaque("redirects to or from an expansion")
		r.inside(redirect.Word)
		return false
	}
	switch redirect.Op { //nolint:exhaustive // the others write
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		r.opaque("gives a command its input in the line")
		if redirect.Hdoc != nil {
			r.inside(redirect.Hdoc)
		}
		return true
	case syntax.RdrIn:
		if path == "/dev/null" {
			return true
		}
		switch {
		case kind == wordGlob || !r.dirKnown:
			r.opaque("reads from a pattern or an unknown folder")
		case strings.HasPrefix(path, "/dev/") && path != "/dev/null": // bash opens connections at /dev/tcp
			r.opaque("reads from the device " + path)
		}
		r.reads = append(r.reads, r.named(path))
		return true
	case syntax.DplIn, syntax.DplOut:
		if isDescriptor(path) {
			return redirect.Op == syntax.DplIn
		}
	}
	if path == "/dev/null" {
		return false
	}
	r.writes = append(r.writes, r.named(path))
	r.opaque("writes to the file " + path)
	if isBlockDevice(path) {
		r.never = "it writes to the device " + path
	} else if strings.HasPrefix(r.absolute(path), "/etc/") {
		r.danger = "changes the system's configuration"
	}
	return false
}

// isDescriptor matches what >& and <& take that is no file: 1, 2, -.
func isDescriptor(word string) bool {
	return word == "-" || word != "" && strings.Trim(word, "0123456789") == ""
}

func (r *lineReader) call(cmd *syntax.CallExpr, fed bool) {
	if len(cmd.Assigns) > 0 {
		r.opaque("sets a variable")
		for _, assign := range cmd.Assigns {
			r.inside(assign)
		}
	}
	if len(cmd.Args) > 0 {
		r.found(cmd, fed)
	}
}

// found judges one simple command.
func (r *lineReader) found(cmd *syntax.CallExpr, fed bool) {
	words := make([]string, len(cmd.Args))
	kinds := make([]wordKind, len(cmd.Args))
	literal, glob := true, false
	for i, arg := range cmd.Args {
		words[i], kinds[i] = r.word(arg)
		if kinds[i] == wordDynamic {
			literal = false
			for _, part := range arg.Parts {
				r.insideExpansion(part)
			}
		}
		glob = glob || kinds[i] == wordGlob
	}
	r.judge(words, fed || !literal)

	call := agent.SimpleCommand{Words: words, Dir: r.dir}
	switch {
	case !literal:
		r.opaque("holds an expansion or a substitution")
	case !r.dirKnown:
		r.opaque("runs in a folder that depends on an earlier command")
	default:
		use, ok := safeUse(words, kinds)
		call.Safe = ok
		for _, path := range use.reads {
			if path != "/dev/null" {
				r.reads = append(r.reads, r.named(path))
			}
		}
		if use.gitVerb > 0 {
			r.gitVerbEnds = append(r.gitVerbEnds, int(cmd.Args[use.gitVerb].End().Offset()))
		}
	}
	if !call.Safe {
		switch {
		case glob:
			r.opaque("holds a file name pattern")
		case fed:
			r.opaque("takes its input from another command or a file")
		}
	}
	r.calls = append(r.calls, call)
	r.changeDir(words)
}

// insideExpansion reads the commands of the substitutions in a word's part.
func (r *lineReader) insideExpansion(part syntax.WordPart) {
	dir, known := r.dir, r.dirKnown
	syntax.Walk(part, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.opaque("holds a command substitution")
			r.stmts(n.Stmts, false)
			return false
		case *syntax.ProcSubst:
			r.opaque("holds a process substitution")
			r.stmts(n.Stmts, false)
			return false
		}
		return true
	})
	r.dir, r.dirKnown = dir, known
}

// changeDir follows the commands that change the current folder.
func (r *lineReader) changeDir(words []string) {
	switch words[0] {
	case "pushd", "popd":
		r.dirKnown = false
	case "cd":
		switch {
		case len(words) == 1 && r.home != "":
			r.dir = r.home
		case len(words) == 2 && !strings.HasPrefix(words[1], "-"):
			r.dir = r.absolute(words[1])
		default:
			r.dirKnown = false
		}
	}
}

// named makes a path that a command is given absolute, and no more: what .. means
// behind a link is for the system to say.
func (r *lineReader) named(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return r.dir + string(filepath.Separator) + path
}

// absolute is the path as cd takes it, which follows .. in the text.
func (r *lineReader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.dir, path)
}
