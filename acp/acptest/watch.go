package acptest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// schemaDirEnv names a folder with further releases of the schema, such as one
// newer than the SDK's. Every *.json file in it is checked as well.
const schemaDirEnv = "HERMES_ACP_TEST_SCHEMA_DIR"

// Watch returns a Checker whose findings fail the test when it ends.
func Watch(tb testing.TB) *Checker {
	tb.Helper()
	c := NewChecker(append(newerSchemas(tb), SDKSchema(tb))...)
	tb.Cleanup(func() {
		for _, violation := range c.Violations() {
			tb.Errorf("the agent broke the protocol: %s", violation)
		}
	})
	return c
}

// SDKSchema returns the schema that the Go SDK's module carries, with its
// unstable part. It is read from the module cache, which go test has filled.
func SDKSchema(tb testing.TB) *Schema {
	tb.Helper()
	s, err := sdkSchema()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var sdkSchema = sync.OnceValues(func() (*Schema, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/coder/acp-go-sdk").Output()
	if err != nil {
		err = fmt.Errorf("find the ACP SDK's module: %w", err)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, err
	}
	return LoadSchema(filepath.Join(strings.TrimSpace(string(out)), "schema", "schema.unstable.json"))
})

func newerSchemas(tb testing.TB) []*Schema {
	tb.Helper()
	dir := os.Getenv(schemaDirEnv)
	if dir == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("%s=%s holds no *.json file (%v)", schemaDirEnv, dir, err)
	}
	var schemas []*Schema
	for _, path := range paths {
		s, err := LoadSchema(path)
		if err != nil {
			tb.Fatal(err)
		}
		schemas = append(schemas, s)
	}
	return schemas
}
