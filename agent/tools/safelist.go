package tools

import (
	"slices"
	"strings"
	"sync"
)

// safeCommand is a row of the list of commands that run without a question:
// they only read, and what they read is named by their arguments, so that the
// rules for reading decide. docs/approvals.md shows the list to people.
type safeCommand struct {
	names string // separated by blanks
	// short are the safe one-letter flags; one with a colon takes a value.
	short string
	// long are the safe long flags, separated by blanks; one that ends in "="
	// may have a value, after the sign.
	long string
	// operands says what the other arguments are.
	operands operandKind
	// most is how many operands there may be; 0 is any number.
	most int
}

type operandKind int

const (
	noOperands       operandKind = iota
	textOperands                 // plain text
	fileOperands                 // files whose content is shown
	nameOperands                 // files of which only names, sizes or counts are shown
	patternThenFiles             // a pattern, unless -e gave it, then files
	timeFormat                   // a format that starts with +
)

// safeCommands returns the list. Flags that write, run programs, follow a file
// or links, or read names of files from a file are left out on purpose, and so
// are commands that show the files of a folder they are given (diff, grep -r).
func safeCommands() []safeCommand {
	return []safeCommand{
		{names: "true false : pwd whoami nproc arch", short: "LP"},
		{names: "echo", short: "neE", operands: textOperands},
		{names: "cd", operands: textOperands, most: 1},
		{names: "ls dir", short: "aAlhrtSsR1dFpinUXcugokvxCmqBbNQGw:I:", long: "all almost-all human-readable recursive reverse color= sort= time= directory group-directories-first full-time size inode classify numeric-uid-gid time-style= ignore= hide= width=", operands: nameOperands},
		{names: "cat", short: "AbEnsTtuve", long: "number number-nonblank show-all show-ends show-tabs squeeze-blank", operands: fileOperands},
		{names: "head tail", short: "n:c:qvz", long: "lines= bytes= quiet verbose", operands: fileOperands},
		{names: "nl", short: "b:n:w:s:v:i:", operands: fileOperands},
		{names: "tac rev", operands: fileOperands},
		{names: "cut", short: "b:c:d:f:sz", long: "bytes= characters= delimiter= fields= only-delimited output-delimiter= complement", operands: fileOperands},
		{names: "sort", short: "bdfgiMhnRrVcCk:msut:z", long: "reverse numeric-sort unique key= field-separator= human-numeric-sort version-sort ignore-case", operands: fileOperands},
		{names: "uniq", short: "cdDuif:s:w:z", long: "count repeated unique ignore-case", operands: fileOperands, most: 1},
		{names: "tr", short: "cCdst", operands: textOperands},
		{names: "fold expand", short: "w:st:", operands: fileOperands},
		{names: "column", short: "ts:", operands: fileOperands},
		{names: "cmp comm", short: "bls123", operands: fileOperands, most: 2},
		{names: "wc", short: "lwcmL", long: "lines words bytes chars max-line-length", operands: nameOperands},
		{names: "md5sum sha1sum sha256sum sha512sum cksum", operands: nameOperands},
		{names: "od hexdump", short: "A:t:N:j:vxcCn:s:", operands: fileOperands},
		{names: "file", short: "biLkN", long: "brief mime mime-type mime-encoding", operands: nameOperands},
		{names: "stat", short: "Lc:tx", long: "format= printf= dereference terse", operands: nameOperands},
		{names: "du", short: "shackmbxd:", long: "summarize human-readable all total max-depth= apparent-size", operands: nameOperands},
		{names: "df", short: "hTkPiam", long: "human-readable", operands: nameOperands},
		{names: "tree", short: "adfisphDFL:I:P:", long: "noreport dirsfirst", operands: nameOperands},
		{names: "basename", short: "as:z", operands: textOperands},
		{names: "dirname", short: "z", operands: textOperands},
		{names: "realpath readlink", short: "efmnqsz", operands: nameOperands},
		{names: "date", short: "uRI", long: "utc iso-8601=", operands: timeFormat},
		{names: "uname", short: "asnrvmpio"},
		{names: "id", short: "unGgr"},
		{names: "hostname", short: "fsid"},
		{names: "seq", short: "ws:f:", operands: textOperands},
		{names: "sleep", operands: textOperands},
		{names: "which type", short: "atpP", operands: textOperands},
		{names: "grep egrep fgrep", short: "invclLwxoEFPGqsHhabzm:A:B:C:e:", long: "ignore-case line-number invert-match count files-with-matches files-without-match word-regexp line-regexp only-matching extended-regexp fixed-strings perl-regexp quiet no-messages with-filename no-filename color= colour= max-count= after-context= before-context= context= regexp=", operands: patternThenFiles},
	}
}

// safety is what is known of a command on the safe list.
type safety struct {
	reads []string // paths as the command names them
	// gitVerb is the index of a git verb behind which gitVerbFlags are put; 0
	// for none.
	gitVerb int
}

// safeUse reports whether a command, its words after quote removal, may run
// without a question, provided that what it reads may be read.
func safeUse(words []string, kinds []wordKind) (safety, bool) {
	name := words[0]
	if kinds[0] != wordLiteral {
		return safety{}, false
	}
	switch name {
	case "git":
		return safeGit(words, kinds)
	case "find":
		return safeFind(words, kinds)
	case "sed":
		return safeSed(words, kinds)
	case "command":
		return safety{}, len(words) >= 2 && (words[1] == "-v" || words[1] == "-V")
	case "test", "[":
		return safety{}, safeTest(words)
	}
	if c, ok := safeCommandByName()[name]; ok {
		return c.use(words, kinds)
	}
	return safety{}, false
}

var safeCommandByName = sync.OnceValue(func() map[string]safeCommand {
	byName := map[string]safeCommand{}
	for _, c := range safeCommands() {
		for name := range strings.FieldsSeq(c.names) {
			byName[name] = c
		}
	}
	return byName
})

// use parses the words of a listed command as getopt does.
func (c safeCommand) use(words []string, kinds []wordKind) (safety, bool) {
	flags, ok := c.parseFlags(words, kinds)
	if !ok {
		return safety{}, false
	}
	operands, operandKinds := flags.operands, flags.kinds
	if c.operands == patternThenFiles && !flags.patternGiven {
		if len(operands) == 0 || operandKinds[0] != wordLiteral {
			return safety{}, false
		}
		operands, operandKinds = operands[1:], operandKinds[1:]
	}
	if c.most > 0 && len(operands) > c.most {
		return safety{}, false
	}

	glob := slices.Contains(operandKinds, wordGlob)
	switch c.operands {
	case noOperands:
		return safety{}, len(operands) == 0
	case textOperands:
		return safety{}, !glob
	case timeFormat:
		return safety{}, len(operands) == 0 || len(operands) == 1 && strings.HasPrefix(operands[0], "+")
	case fileOperands, patternThenFiles:
		// What a pattern matches is not known, and it may be a key.
		return safety{reads: operands}, !glob
	case nameOperands:
		if len(operands) == 0 {
			operands, operandKinds = []string{"."}, []wordKind{wordLiteral}
		}
		return safety{reads: globFolders(operands, operandKinds)}, true
	}
	return safety{}, false
}

// parsedFlags is a command line after its flags were found safe.
type parsedFlags struct {
	operands     []string
	kinds        []wordKind
	patternGiven bool // by grep's -e
}

func (c safeCommand) parseFlags(words []string, kinds []wordKind) (parsedFlags, bool) {
	var p parsedFlags
	for i := 1; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--":
			p.operands = append(p.operands, words[i+1:]...)
			p.kinds = append(p.kinds, kinds[i+1:]...)
			return p, true
		case strings.HasPrefix(word, "--"):
			name, _, _ := strings.Cut(word[2:], "=")
			if !hasLong(c.long, name, word) || kinds[i] != wordLiteral {
				return p, false
			}
			p.patternGiven = p.patternGiven || name == "regexp"
		case len(word) > 1 && word[0] == '-':
			takesNext, ok := c.shortFlags(word[1:])
			if !ok || kinds[i] != wordLiteral {
				return p, false
			}
			p.patternGiven = p.patternGiven || c.operands == patternThenFiles && strings.Contains(word, "e")
			if takesNext {
				if i++; i >= len(words) || kinds[i] != wordLiteral {
					return p, false
				}
			}
		default:
			p.operands = append(p.operands, word)
			p.kinds = append(p.kinds, kinds[i])
		}
	}
	return p, true
}

// hasLong reports whether a long flag is listed, with a value only where it may
// have one.
func hasLong(list, name, word string) bool {
	listed := strings.Fields(list)
	return slices.Contains(listed, name+"=") || !strings.Contains(word, "=") && slices.Contains(listed, name)
}

// shortFlags checks a cluster of one-letter flags. takesNext says that the last
// one's value is the next word.
func (c safeCommand) shortFlags(cluster string) (takesNext, ok bool) {
	if strings.Trim(cluster, "0123456789") == "" {
		return false, c.names == "head tail" || c.operands == patternThenFiles // -20
	}
	for i := range len(cluster) {
		at := strings.IndexByte(c.short, cluster[i])
		if at < 0 || cluster[i] == ':' {
			return false, false
		}
		if at+1 < len(c.short) && c.short[at+1] == ':' {
			return i == len(cluster)-1, true
		}
	}
	return false, true
}

// globFolders returns the paths, each pattern replaced by the folder in which
// it is expanded.
func globFolders(paths []string, kinds []wordKind) []string {
	folders := make([]string, len(paths))
	for i, path := range paths {
		if kinds[i] == wordGlob {
			path = path[:strings.IndexAny(path, "*?[")]
			path = path[:strings.LastIndexByte(path, '/')+1]
		}
		if path == "" {
			path = "."
		}
		folders[i] = path
	}
	return folders
}

// safeSed allows what prints lines of files: sed -n '10,20p' FILE.
func safeSed(words []string, kinds []wordKind) (safety, bool) {
	if len(words) < 3 || words[1] != "-n" || slices.Contains(kinds, wordGlob) {
		return safety{}, false
	}
	script, ok := strings.CutSuffix(words[2], "p")
	if !ok || script == "" || strings.Trim(script, "0123456789,$") != "" {
		return safety{}, false
	}
	for _, file := range words[3:] {
		if strings.HasPrefix(file, "-") {
			return safety{}, false
		}
	}
	return safety{reads: words[3:]}, true
}

// safeTest allows conditions on files, texts and numbers. The operators -v and -R
// are left out: bash evaluates their operand, substitutions in it included.
func safeTest(words []string) bool {
	for _, word := range words[1:] {
		if word == "-v" || word == "-R" || strings.ContainsAny(word, "[$`") {
			return false
		}
	}
	return true
}

// safeFind allows the tests and the actions that only print names.
func safeFind(words []string, kinds []wordKind) (safety, bool) {
	tests := strings.Fields("-not -a -and -o -or -print -print0 -prune -empty -readable -writable -executable -true -false -depth -xdev -mount -ls")
	withValue := strings.Fields("-name -iname -path -ipath -wholename -regex -iregex -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -perm -user -group -links -newer -regextype")
	var use safety
	i := 1
	if len(words) > 1 && words[1] == "-P" {
		i++
	}
	for ; i < len(words) && !strings.HasPrefix(words[i], "-") && words[i] != "!" && words[i] != "("; i++ {
		if kinds[i] != wordLiteral {
			return safety{}, false
		}
		use.reads = append(use.reads, words[i])
	}
	if len(use.reads) == 0 {
		use.reads = []string{"."}
	}
	for ; i < len(words); i++ {
		switch {
		case words[i] == "!", words[i] == "(", words[i] == ")", slices.Contains(tests, words[i]):
		case slices.Contains(withValue, words[i]):
			if i++; i >= len(words) || kinds[i] != wordLiteral {
				return safety{}, false
			}
		default:
			return safety{}, false
		}
	}
	return use, true
}
