package wslbridge

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata/frames"
)

// TestConversations plays testdata/frames/*.txt. Every frame that arrives passes a second bridge too, as
// when our agent runs as the command of another bridge; nothing may change.
func TestConversations(t *testing.T) {
	count := 0
	for _, c := range readConversations(t) {
		count += len(c.turns)
		t.Run(c.name, func(t *testing.T) { c.play(t) })
	}
	if count < 60 {
		t.Errorf("%d frames, want at least 60", count)
	}
}

// conversation is one of testdata/frames/*.txt, whose format is described there.
type conversation struct {
	name   string
	config RewriteConfig
	turns  []turn
}

type turn struct {
	fromClient bool
	sent       string
	atClient   bool
	arrives    string
	line       string // where it stands, for messages
}

func (c conversation) play(t *testing.T) {
	t.Helper()
	r, second := NewRewriter(c.config), NewRewriter(c.config)
	for _, turn := range c.turns {
		got, atClient := send(r, turn.fromClient, turn.sent)
		if atClient != turn.atClient {
			t.Errorf("%s: arrived at the client: %v, want %v: %s", turn.line, atClient, turn.atClient, got)
			continue
		}
		if diff := cmp.Diff(turn.arrives, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", turn.line, diff)
			continue
		}
		again := got
		switch {
		case turn.fromClient && !atClient:
			again, _ = send(second, true, got)
		case !turn.fromClient:
			again, _ = send(r, false, got)
		}
		if again != got {
			t.Errorf("%s: a second time: %s\nwant %s", turn.line, again, got)
		}
	}
}

func send(r *Rewriter, fromClient bool, frame string) (got string, atClient bool) {
	if !fromClient {
		return string(r.Outbound([]byte(frame))), true
	}
	out, reply := r.Inbound([]byte(frame))
	if reply != nil {
		return string(reply), true
	}
	return string(out), false
}

func readConversations(tb testing.TB) []conversation {
	tb.Helper()
	files, err := fs.Glob(frames.Files, "*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no frames: %v", err)
	}
	var all []conversation
	for _, file := range files {
		text, err := frames.Files.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, parseConversations(tb, file, text)...)
	}
	return all
}

func parseConversations(tb testing.TB, file string, text []byte) []conversation {
	tb.Helper()
	var all []conversation
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		at := fmt.Sprintf("%s:%d", file, number)
		switch mark {
		case "==":
			title, options, _ := strings.Cut(rest, " | ")
			name := strings.TrimSuffix(path.Base(file), ".txt") + "/" + title
			all = append(all, conversation{name: name, config: parseOptions(tb, at, options)})
		case "->", "<-":
			c := &all[len(all)-1]
			c.turns = append(c.turns, turn{fromClient: mark == "->", sent: rest, line: at})
		case "=>", "<=":
			c := &all[len(all)-1]
			last := &c.turns[len(c.turns)-1]
			last.atClient, last.arrives = mark == "<=", rest
			if rest == "same" {
				last.arrives = last.sent
			}
		default:
			tb.Fatalf("%s: %q is no line of a conversation", at, line)
		}
	}
	return all
}

func parseOptions(tb testing.TB, at, options string) RewriteConfig {
	tb.Helper()
	config := RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default"), Drives: map[string]string{}}
	found := map[string]bool{}
	config.LookPath = func(name string) (string, bool) { return "/usr/bin/" + name, found[name] }
	for option := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "mounts":
			config.Mounts = mountsOf(value)
		case "drive":
			letter, target, _ := strings.Cut(value, "=")
			config.Drives[letter] = target
		case "finds":
			found[value] = true
		case "wslenv":
			config.WSLENV = value
		case "dormant":
			config.Dormant = true
		case "third-party":
			config.ThirdParty = true
		case "launcher":
			config.Launcher = strings.Split(value, ",")
		default:
			tb.Fatalf("%s: unknown option %q", at, option)
		}
	}
	return config
}

const (
	mountC     = `27 22 0:50 / /mnt/c rw,noatime - 9p C:\134 rw,dirsync,aname=drvfs;path=C:\;uid=1000;symlinkroot=/mnt/,trans=fd` + "\n"
	mountD     = `28 22 0:51 / /mnt/d rw,noatime - 9p D:\134 rw,dirsync,aname=drvfs;path=D:\;uid=1000;symlinkroot=/mnt/,trans=fd` + "\n"
	mountShare = `29 22 0:52 / /mnt/share rw - 9p \134\134server\134share rw,aname=drvfs;path=UNC\server\share;symlinkroot=/mnt/,trans=fd` + "\n"
)

// mountsOf returns the mounts of a kind of machine. On "later", D: is mounted after the first look.
func mountsOf(kind string) func() pathxlate.MountTable {
	looks := 0
	return func() pathxlate.MountTable {
		looks++
		switch {
		case kind == "none":
			return pathxlate.MountTable{}
		case kind == "lexical":
			return pathxlate.AutomountRoot("/mnt/")
		case kind == "later" && looks == 1:
			return pathxlate.ParseMountInfo(mountC, nil)
		}
		return pathxlate.ParseMountInfo(mountC+mountD+mountShare, nil)
	}
}
