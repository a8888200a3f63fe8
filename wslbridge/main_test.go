//go:build linux

package wslbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

const testVersion = "0.0.0-test"

// TestMain makes the test binary every program of the bridge: wsl.exe when it is called so, the Linux
// hermes-acp that the launcher provisions, an agent, and a launcher of its own for tests that kill it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "wsl.exe" {
		os.Exit(wslbridgetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "--version":
			fmt.Println(testVersion)
			os.Exit(0)
		case "bridge-host":
			os.Exit(hostMain(os.Args[2:]))
		case "agent":
			err := testAgent(context.Background(), os.Stdin, os.Stdout)
			if code, ok := errors.AsType[exitError](err); ok {
				os.Exit(int(code))
			}
			os.Exit(0)
		case "launcher":
			os.Exit(launcherMain())
		}
	}
	goleak.VerifyTestMain(m)
}

func hostMain(args []string) int {
	host := &Host{
		Version: testVersion,
		Home:    os.Getenv("HOME"),
		Serve:   testAgent,
		Rewrite: RewriteConfig{Distro: os.Getenv("WSL_DISTRO_NAME"), Mounts: readMounts, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))},
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if len(args) > 0 && args[0] == "--" {
		host.Command, host.Serve, host.Rewrite.ThirdParty = args[1:], nil, true
	}
	code, err := host.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hermes-acp:", err)
	}
	return code
}

// testAgent answers requests whose methods say what should go wrong.
func testAgent(_ context.Context, r io.Reader, w io.Writer) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	out := &lockedWriter{w: w}
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &request) != nil {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`)
			continue
		}
		result, err := answer(request.Method, request.Params, out)
		if err != nil {
			return err
		}
		if len(request.ID) > 0 {
			text, _ := json.Marshal(result)
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, text)
		}
	}
}

// exitError is an error by which an agent ends with this status.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func answer(method string, params json.RawMessage, out io.Writer) (any, error) {
	var p struct {
		Count, Bytes, Code int
		Cwd                string
	}
	_ = json.Unmarshal(params, &p)
	switch method {
	case "initialize":
		return map[string]any{"distro": os.Getenv("WSL_DISTRO_NAME"), "args": os.Args, "pid": os.Getpid(), "host": os.Getppid()}, nil
	case "session/new":
		return map[string]any{"distro": os.Getenv("WSL_DISTRO_NAME"), "cwd": p.Cwd}, nil
	case "echo":
		return params, nil
	case "env":
		return os.Environ(), nil
	case "burst":
		for i := range p.Count {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"n","params":{"i":%d,"pad":"%s"}}`+"\n", i, strings.Repeat("x", p.Bytes))
		}
		return nil, nil
	case "stderr":
		pad := strings.Repeat("e", 1023) + "\n"
		for range p.Bytes / len(pad) {
			fmt.Fprint(os.Stderr, pad)
		}
		return nil, nil
	case "exit":
		return nil, exitError(p.Code)
	case "burst-and-exit":
		_, _ = answer("burst", params, out)
		return nil, exitError(p.Code)
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return nil, nil
	case "cut":
		fmt.Fprint(out, `{"jsonrpc":"2.0","met`)
		return nil, exitError(0)
	case "grandchild":
		child := exec.Command("sleep", "1000")
		child.Stdout = os.Stdout
		if p.Code == 1 {
			child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		}
		err := child.Start()
		return map[string]int{"pid": child.Process.Pid}, err
	case "deaf":
		if os.Args[1] == "agent" { // not in the host's own process
			signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		}
		fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"deaf"}`)
		for {
			time.Sleep(time.Hour)
		}
	}
	return nil, nil
}
