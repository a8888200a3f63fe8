package tools

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// writerEnv makes the test binary a process that writes a file over and over.
const writerEnv = "HERMES_TEST_WRITER"

var (
	oldContent = bytes.Repeat([]byte("a"), 3<<20)
	newContent = bytes.Repeat([]byte("b"), 2<<20)
)

// writeForever writes until it is killed, or returns when it cannot.
func writeForever(target string) {
	for {
		for _, data := range [][]byte{newContent, oldContent} {
			if err := writeFile(target, data, 0); err != nil {
				return
			}
			_, _ = os.Stdout.WriteString("wrote\n") // the test reads it, or is gone
		}
	}
}

// A process that is killed while it writes leaves the old content or the new. So
// does one that is only looked at meanwhile, which finds more moments.
func TestKilledWriterLeavesNoTornFile(t *testing.T) {
	dir, err := agent.ResolveLinks(t.TempDir())
	must(t, err)
	target := filepath.Join(dir, "f")
	must(t, os.WriteFile(target, oldContent, 0o644))
	for round := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+target)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range round + 1 { // then it is somewhere in its next write
			lines.Scan()
			checkWhole(t, target)
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		checkWhole(t, target)
	}
}

func checkWhole(t *testing.T, target string) {
	t.Helper()
	data, err := os.ReadFile(target)
	must(t, err)
	if !bytes.Equal(data, oldContent) && !bytes.Equal(data, newContent) {
		t.Fatalf("torn file of %d bytes", len(data))
	}
}
