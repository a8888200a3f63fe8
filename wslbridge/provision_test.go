//go:build linux

package wslbridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProvisioning(t *testing.T) {
	m := newMachine(t)
	e := startEditor(t, m.launcher())
	if got := e.distro(); got != "Ubuntu" {
		t.Errorf("served by %q", got)
	}
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	if got := e.stderr.String(); !strings.Contains(got, "installing itself in Ubuntu") {
		t.Errorf("stderr = %q", got)
	}
	info, err := os.Stat(m.stored("Ubuntu"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the binary's mode is %v", info.Mode())
	}
	assertEntries(t, filepath.Join(m.home("Ubuntu"), StoreDir), testPayload(t).SHA256)

	second := startEditor(t, m.launcher())
	second.distro()
	if _, err := second.bye(); err != nil {
		t.Error(err)
	}
	if got := second.stderr.String(); got != "" {
		t.Errorf("the second start said %q", got)
	}
}

func TestInstalledBinaryOfTheSameVersionIsUsed(t *testing.T) {
	m := newMachine(t)
	exe, _ := os.Executable()
	bin := filepath.Join(m.home("Ubuntu"), ".local/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(bin, "hermes-acp")); err != nil {
		t.Fatal(err)
	}
	l := m.launcher()
	l.Payload = nil
	e := startEditor(t, l)
	e.distro()
	if code, err := e.bye(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}

	l = m.launcher()
	l.Payload, l.Version = nil, "9.9.9"
	e = startEditor(t, l)
	e.call("initialize", `{}`)
	if _, err := e.bye(); !errors.Is(err, ErrNoBinary) {
		t.Errorf("a binary of another version: %v", err)
	}
}

func TestProvisioningFails(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, m *machine, l *Launcher)
		want  error
	}{
		"no binary": {func(_ *testing.T, _ *machine, l *Launcher) { l.Payload = nil }, ErrNoBinary},
		"damaged": {func(_ *testing.T, _ *machine, l *Launcher) {
			p := *l.Payload
			p.Open = func() (io.ReadCloser, error) {
				return io.NopCloser(io.LimitReader(zeros{}, p.Size)), nil
			}
			l.Payload = &p
		}, ErrSumMismatch},
		"does not run": {func(_ *testing.T, _ *machine, l *Launcher) {
			l.Payload = payloadOf([]byte("#!/no/such/interpreter\n"))
		}, ErrCannotRun},
		"store is a file": {func(t *testing.T, m *machine, _ *Launcher) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(m.home("Ubuntu"), ".local"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, ErrStore},
		"disk is full": {func(t *testing.T, m *machine, l *Launcher) {
			t.Helper()
			dir := t.TempDir()
			script := "#!/bin/sh\n/usr/bin/head -c 100\necho 'head: write error: No space left on device' >&2\nexit 1\n"
			if err := os.WriteFile(filepath.Join(dir, "head"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			m.config.Distros[0].Path = dir + ":/usr/bin:/bin"
			*l = *m.launcher()
		}, ErrNoSpace},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			l := m.launcher()
			tc.spoil(t, m, l)
			e := startEditor(t, l)
			answer := e.call("initialize", `{}`)
			code, err := e.bye()
			if code != 1 || !errors.Is(err, tc.want) {
				t.Errorf("ended with %d, %v; want %v", code, err, tc.want)
			}
			if answer.Error == nil || !strings.Contains(answer.Error.Message, tc.want.Error()) {
				t.Errorf("answer = %+v", answer.Error)
			}
			if _, err := os.Stat(m.stored("Ubuntu")); err == nil {
				t.Error("a binary was installed all the same")
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func payloadOf(binary []byte) *Payload {
	sum := sha256.Sum256(binary)
	return &Payload{
		SHA256: hex.EncodeToString(sum[:]),
		Size:   int64(len(binary)),
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(binary)), nil },
	}
}

// An old version stays what it is when a new one cannot be stored.
func TestFailedProvisioningLeavesTheOldVersion(t *testing.T) {
	m := newMachine(t).installed("Ubuntu")
	l := m.launcher()
	l.Payload = payloadOf([]byte("#!/no/such/interpreter\n"))
	e := startEditor(t, l)
	e.call("initialize", `{}`)
	if _, err := e.bye(); !errors.Is(err, ErrCannotRun) {
		t.Fatal(err)
	}
	e = startEditor(t, m.launcher())
	if got := e.distro(); got != "Ubuntu" {
		t.Errorf("served by %q", got)
	}
	if got := len(m.calls()); got != 2 {
		t.Errorf("%d starts", got)
	}
}

func TestTwoLaunchersProvisionAtOnce(t *testing.T) {
	m := newMachine(t)
	var editors [2]*editor
	for i := range editors {
		editors[i] = startEditor(t, m.launcher())
	}
	var both sync.WaitGroup
	for _, e := range editors {
		both.Go(func() {
			fmt.Fprintln(e.stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
			if _, err := e.lines.ReadBytes('\n'); err != nil {
				t.Error(err)
			}
			_ = e.stdin.Close()
			if code, err := e.wait(); code != 0 || err != nil {
				t.Errorf("ended with %d, %v", code, err)
			}
		})
	}
	both.Wait()
	assertEntries(t, filepath.Join(m.home("Ubuntu"), StoreDir), testPayload(t).SHA256)
}

// bootstrapAlone runs the script with only the named tools on its PATH.
func bootstrapAlone(t *testing.T, stdin io.Reader, home string, args []string, tools ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("%s is not installed here", tool)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	script := strings.Replace(bootstrap, ":/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin", "", 1)
	if script == bootstrap {
		t.Fatal("the script's PATH is not what this test replaces")
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + dir}
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestBootstrapNeedsFewTools(t *testing.T) {
	binary := []byte("#!/bin/sh\necho ran \"$@\"\n")
	sum, size := payloadOf(binary).SHA256, fmt.Sprint(len(binary))
	for name, tc := range map[string]struct {
		tools []string
		want  string
	}{
		"sha256sum": {[]string{"mkdir", "head", "mv", "chmod", "sha256sum"}, "hermes-acp-bootstrap: send\nran a b  c\n"},
		"shasum":    {[]string{"mkdir", "head", "mv", "chmod", "shasum", "perl"}, "hermes-acp-bootstrap: send\nran a b  c\n"},
		"neither":   {[]string{"mkdir", "head", "mv", "chmod"}, "hermes-acp-bootstrap: failed sha256sum\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := bootstrapAlone(t, bytes.NewReader(binary), t.TempDir(), []string{sum, size, "1", "a", "b  c"}, tc.tools...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// Home folders that are full, or mounted so that nothing in them runs, are real file systems here.
func TestBootstrapOnRealFileSystems(t *testing.T) {
	if out, err := exec.Command("unshare", "--mount", "--map-root-user", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %v: %s", err, out)
	}
	binary := append([]byte("#!/bin/sh\necho ran\n#"), bytes.Repeat([]byte("x"), 100<<10)...)
	payload := payloadOf(binary)
	for options, want := range map[string]string{
		"size=1m":        "ran\n",
		"size=32k":       bootstrapFailed + "space\n",
		"size=1m,noexec": bootstrapFailed + "exec\n",
		"size=1m,ro":     bootstrapFailed + "store\n",
	} {
		t.Run(options, func(t *testing.T) {
			mount := `mount -t tmpfs -o "$OPTIONS" home "$HOME" && exec /bin/sh "$@"`
			args := append([]string{"--mount", "--map-root-user", "/bin/sh", "-c", mount, "sh"}, bootstrapArgs(payload, testVersion, nil)[1:]...)
			cmd := exec.Command("unshare", args...)
			cmd.Env = []string{"HOME=" + t.TempDir(), "OPTIONS=" + options, "PATH=/usr/bin:/bin"}
			cmd.Stdin = bytes.NewReader(binary)
			out, _ := cmd.Output() // its status says less than its output
			if got := strings.TrimPrefix(string(out), bootstrapSend+"\n"); got != want {
				t.Errorf("output %q, want %q", got, want)
			}
		})
	}
}

func TestW63_BootstrapHasNoCarriageReturn(t *testing.T) {
	if strings.Contains(bootstrap, "\r") {
		t.Error("the script has CRLF line ends; see .gitattributes")
	}
}

// The limit of a Windows command line is 32,767 characters; the script must leave room for arguments.
func TestBootstrapIsShort(t *testing.T) {
	if len(bootstrap) > 4000 {
		t.Errorf("the script has %d bytes", len(bootstrap))
	}
}

func TestReadPayload(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPayload(exe, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	if want := testPayload(t); got.SHA256 != want.SHA256 || got.Size != want.Size {
		t.Errorf("got %s, %d bytes", got.SHA256, got.Size)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 0 # long enough\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, arch := range map[string]string{exe: "riscv64", script: runtime.GOARCH} {
		if _, err := ReadPayload(path, arch); !errors.Is(err, ErrNotForMachine) {
			t.Errorf("ReadPayload(%s, %s): %v", path, arch, err)
		}
	}
}
