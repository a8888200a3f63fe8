package store

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the fixtures anew")

// pythonHome is a folder in which the real hermes-agent has made a database; the
// python lane sets it.
func pythonHome(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HERMES_ACP_PYTHON_HOME")
	if dir == "" {
		t.Skip("HERMES_ACP_PYTHON_HOME is not set; scripts/test python sets it")
	}
	return dir
}

func TestHermes_Schema(t *testing.T) {
	facts := describe(t, pythonHome(t))
	if *update {
		if err := os.WriteFile(hermesTables, []byte(strings.Join(facts, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(hermesTables)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), facts); diff != "" {
		t.Errorf("the package makes other tables than the fixture says (-fixture +package):\n%s", diff)
	}
}
