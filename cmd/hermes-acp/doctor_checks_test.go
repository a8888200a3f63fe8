//go:build !windows

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/store"
	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// newTestCheckup looks at a new home folder with the given files and environment.
func newTestCheckup(t *testing.T, files, env map[string]string) *checkup {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".hermes")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &checkup{
		source: config.Source{Home: home, LookupEnv: func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		}},
		cwd:     home,
		shell:   "/bin/sh",
		onDrvfs: func(string) bool { return false },
		login:   &wslbridge.LoginEnvironment{Shell: "/no/such/shell", Log: slog.New(slog.DiscardHandler)},
	}
	c.config, c.configErr = c.source.Read()
	return c
}

// wantLines looks for the wanted texts, each of which begins a line.
func wantLines(t *testing.T, findings []finding, want ...string) {
	t.Helper()
	got := "\n" + findingLines(findings)
	for _, line := range want {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("no line begins with %q in:%s", line, got)
		}
	}
	if len(want) == 0 && len(findings) > 0 {
		t.Errorf("want no finding, got:%s", got)
	}
	for _, f := range findings {
		if (f.Status == healthOK) != (f.Remedy == "") {
			t.Errorf("%s: a finding has a remedy exactly when something is wrong: %+v", f.Name, f)
		}
	}
}

const testKey = "sk-very-secret-0123456789"

func TestDoctorConfiguration(t *testing.T) {
	for name, tc := range map[string]struct {
		files, env   map[string]string
		wantConfig   []string
		wantProvider []string
	}{
		"none": {
			nil, nil,
			[]string{"ok    configuration   no .env and no config.yaml"},
			[]string{"FAIL  provider        no model provider is configured", "  -> put OPENROUTER_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL into "},
		},
		"broken yaml": {
			map[string]string{"config.yaml": "model:\n  default: [x\n"},
			nil,
			[]string{"FAIL  configuration   ", "  -> mend line "},
			nil,
		},
		"broken .env": {
			map[string]string{".env": "A=1\nOPENAI_API_KEY='" + testKey + "\n"},
			nil,
			[]string{"FAIL  configuration   ", "  -> mend line 2 of "},
			nil,
		},
		"UTF-16": {
			map[string]string{"config.yaml": "\xff\xfem\x00"},
			nil,
			[]string{"FAIL  configuration   ", "  -> save it as UTF-8"},
			nil,
		},
		"unknown provider": {
			map[string]string{"config.yaml": "model: {provider: nobody}"},
			nil,
			[]string{"ok    configuration   "},
			[]string{`FAIL  provider        no model provider is configured: config.yaml names the provider "nobody", which hermes-acp does not know`, "  -> known are openrouter"},
		},
		"key in .env": {
			map[string]string{".env": "OPENAI_API_KEY=" + testKey},
			map[string]string{"OPENAI_BASE_URL": "http://me:" + testKey + "@127.0.0.1:1/v1?key=" + testKey},
			[]string{"ok    configuration   "},
			[]string{"ok    provider        "},
		},
		"key in config.yaml": {
			map[string]string{"config.yaml": "model: {provider: openai, default: m, api_key: " + testKey + "}"},
			nil, nil,
			[]string{"ok    provider        m of openai at https://api.openai.com/v1, with the key "},
		},
		"no key needed": {
			map[string]string{"config.yaml": "model: {provider: ollama, default: qwen3}"},
			nil, nil,
			[]string{"ok    provider        qwen3 of ollama at http://127.0.0.1:11434/v1, without a key"},
		},
		"offline": {nil, map[string]string{"HERMES_INFERENCE_PROVIDER": "offline"}, nil, []string{"ok    provider        the built-in offline model"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCheckup(t, tc.files, tc.env)
			about, provider := c.configuration(t.Context()), c.provider(t.Context())
			wantLines(t, about, append(tc.wantConfig, "")...)
			wantLines(t, provider, tc.wantProvider...)
			if shown := findingLines(append(about, provider...)); strings.Contains(shown, testKey) {
				t.Errorf("the key is shown: %s", shown)
			}
		})
	}
}

func TestDoctorEndpoint(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	models := func(ids ...string) http.HandlerFunc {
		return answer(http.StatusOK, `{"data":[{"id":"`+strings.Join(ids, `"},{"id":"`)+`"}]}`)
	}
	slow, cancel := context.WithCancelCause(t.Context())
	cancel(errNoAnswer)
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		model string
		ctx   context.Context //nolint:containedctx // of one case
		want  []string
	}{
		"answers":       {models("other", "mine"), "mine", nil, []string{"ok    endpoint        custom answers"}},
		"unknown model": {models("a", "b"), "mine", nil, []string{"warn  endpoint        custom answers, and does not list mine among its 2 models", "  -> choose one"}},
		"no model":      {answer(http.StatusOK, `{"data":[]}`), "auto", nil, []string{"FAIL  endpoint        custom answers, and serves no model", "  -> load a model there"}},
		"bad key": {
			answer(http.StatusUnauthorized, `{"error":{"message":"Incorrect API key provided: `+testKey+`"}}`), "mine", nil,
			[]string{"FAIL  endpoint        custom refused the key (401)", "  -> store a key that it accepts: in a terminal run: "},
		},
		"no list":    {answer(http.StatusNotFound, "no"), "mine", nil, []string{"warn  endpoint        custom lists no models at http://127.0.0.1:", "  -> if prompts fail too, check model.base_url"}},
		"trouble":    {answer(http.StatusServiceUnavailable, "no"), "mine", nil, []string{"warn  endpoint        custom answered with an error (503)", "  -> try again later"}},
		"too slow":   {models("mine"), "mine", slow, []string{"warn  endpoint        custom: no answer from 127.0.0.1:", "  -> try again later"}},
		"not there":  {nil, "mine", nil, []string{"FAIL  endpoint        custom: no answer from 127.0.0.1:", "  -> start the server at http://127.0.0.1:"}},
		"a web page": {answer(http.StatusOK, "<html>"), "mine", nil, []string{"FAIL  endpoint        ", "  -> "}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.serve)
			defer server.Close()
			if tc.serve == nil {
				server.Close()
			}
			c := newTestCheckup(t, nil, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_API_KEY": testKey, "HERMES_MODEL": tc.model})
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			found := c.endpoint(ctx)
			wantLines(t, found, tc.want...)
			if shown := findingLines(found); strings.Contains(shown, testKey) {
				t.Errorf("the key is shown: %s", shown)
			}
			c.offline = true
			wantLines(t, c.endpoint(ctx))
		})
	}
}

// A server on the localhost of Windows is not on that of a distro.
func TestDoctorFindsServersOnWindows(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	c := newTestCheckup(t, nil, map[string]string{"OPENAI_BASE_URL": "http://" + address + "/v1", "HERMES_MODEL": "m"})
	c.wsl = &wslMachine{distro: "Ubuntu", routes: "Iface\tDestination\tGateway\nlo\t0000007F\t00000000\neth0\t00000000\t0110A8C0\t0003\n"}
	remedy := c.endpoint(t.Context())[0].Remedy
	for _, want := range []string{"networkingMode=mirrored", "wsl --shutdown", "http://192.168.16.1:" + port + "/v1"} {
		if !strings.Contains(remedy, want) {
			t.Errorf("%q is not in %q", want, remedy)
		}
	}
}

// A person whose editor is on Windows has a window there.
func TestDoctorNamesTheWindow(t *testing.T) {
	c := newTestCheckup(t, nil, nil)
	for _, step := range []struct {
		change func()
		want   string
	}{
		{func() {}, ", or in a terminal run: "},
		{func() { c.wsl = &wslMachine{distro: "Ubuntu"} }, ", or inside Ubuntu (in PowerShell: wsl -d Ubuntu) run: "},
		{func() { c.launched = true }, ", or in PowerShell run: hermes-acp.exe --setup"},
	} {
		step.change()
		if remedy := c.provider(t.Context())[0].Remedy; !strings.Contains(remedy, step.want) {
			t.Errorf("%q is not in %q", step.want, remedy)
		}
	}
}

func TestDoctorPrivacy(t *testing.T) {
	c := newTestCheckup(t, map[string]string{".env": "", "config.yaml": "", store.FileName: ""}, nil)
	wantLines(t, c.privacy(t.Context()), "ok    privacy         "+c.source.Home+" is yours alone")

	for path, mode := range map[string]os.FileMode{c.source.Home: 0o750, filepath.Join(c.source.Home, ".env"): 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	wantLines(t, c.privacy(t.Context()),
		fmt.Sprintf("warn  privacy         open to other accounts: %s (750), %[1]s/.env (644)", c.source.Home),
		fmt.Sprintf("  -> in a terminal run: chmod 700 %s; chmod 600 %[1]s/.env", c.source.Home))

	c.onDrvfs = func(string) bool { return true }
	wantLines(t, c.privacy(t.Context()), "warn  privacy         "+c.source.Home+" is on a Windows drive", "  -> keep HERMES_HOME inside Linux")
}

func TestDoctorDatabase(t *testing.T) {
	execute := func(t *testing.T, path, statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec(statement)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, path string) // a new, valid database
		want    []string
	}{
		"none": {func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, []string{"ok    state.db        "}},
		"whole": {func(*testing.T, string) {}, []string{"ok    state.db        "}},
		"no database": {func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte("not SQLite's"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"FAIL  state.db        ", "  -> put a copy of it back"}},
		"a folder": {func(t *testing.T, path string) {
			t.Helper()
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, []string{"FAIL  state.db        ", "  -> "}},
		"newer": {
			func(t *testing.T, path string) { t.Helper(); execute(t, path, `UPDATE acp_schema SET version = 9999`) },
			[]string{"FAIL  state.db        ", "  -> install the newest hermes-acp"},
		},
		"foreign": {func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			execute(t, path, `CREATE TABLE x (y)`)
		}, []string{"FAIL  state.db        ", "  -> move it away: in a terminal run: mv "}},
		"damaged": {
			func(t *testing.T, path string) { t.Helper(); damageMiddle(t, path) },
			[]string{"FAIL  state.db        ", "  -> end every hermes-acp and Hermes, then in a terminal run: sqlite3 "},
		},
		"broken lineage": {
			func(t *testing.T, path string) {
				t.Helper()
				execute(t, path, `PRAGMA foreign_keys = OFF; INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('s1', 'acp', 1, 'gone')`)
			},
			[]string{"warn  lineage         1 conversations have lost what came before them: session s1: a parent is missing (gone)", "  -> nothing is lost that is still listed; to read it: in a terminal run: hermes-acp sessions list --limit 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCheckup(t, nil, nil)
			db, err := store.Open(t.Context(), store.Options{Dir: c.source.Home, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(c.source.Home, store.FileName)
			tc.prepare(t, path)
			wantLines(t, c.database(t.Context()), tc.want...)
			if moved, _ := filepath.Glob(path + ".corrupt-*"); len(moved) > 0 {
				t.Errorf("doctor moved the file: %q", moved)
			}
		})
	}
}

// damageMiddle fills a table and writes over a page of it.
func damageMiddle(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(`PRAGMA journal_mode = DELETE;
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
			INSERT INTO sessions (id, source, started_at) SELECT 'session-' || i, 'acp', i FROM n`)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	last := info.Size()/page - 1
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", page)), last*page)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorLogs(t *testing.T) {
	c := newTestCheckup(t, nil, nil)
	wantLines(t, c.logs(t.Context()), "ok    logs            "+filepath.Join(c.source.Home, "logs", "hermes-acp.log"))
	if err := os.WriteFile(filepath.Join(c.source.Home, "logs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantLines(t, c.logs(t.Context()), "FAIL  logs            nothing can be written in "+c.source.Home+"/logs", "  -> in a terminal run: ls -ld ")
}

func TestDoctorLoginShell(t *testing.T) {
	c := newTestCheckup(t, nil, nil)
	for name, tc := range map[string]struct {
		chatter string
		took    time.Duration
		err     error
		want    []string
	}{
		"well":  {"\n", 30 * time.Millisecond, nil, []string{"ok    login shell     /bin/sh: 5 variables in 30 ms"}},
		"noise": {"Welcome!\n", 0, nil, []string{`warn  login shell     the start files of /bin/sh print to stdout: "Welcome!\n"`, "  -> in the start files print to stderr"}},
		"slow":  {"", 3 * time.Second, nil, []string{"warn  login shell     /bin/sh takes 3.0 s", "  -> see what is slow"}},
		"hangs": {"", 10 * time.Second, context.DeadlineExceeded, []string{"warn  login shell     /bin/sh does not come to an end", "  -> see what it waits for: in a terminal run: /bin/sh -l -i -c env"}},
		"fails": {"", 0, errors.New("exit status 2"), []string{"warn  login shell     /bin/sh: exit status 2", "  -> see what it does"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantLines(t, []finding{c.judgeLogin("login shell", tc.chatter, 5, tc.took, tc.err)}, tc.want...)
		})
	}
}

func TestDoctorWindowsPrograms(t *testing.T) {
	dir := t.TempDir()
	windows, linux := filepath.Join(dir, "mnt/c/nodejs"), filepath.Join(dir, "usr/bin")
	for _, path := range []string{windows + "/npm", windows + "/node", linux + "/node", linux + "/git"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	onDrvfs := func(path string) bool { return strings.HasPrefix(path, filepath.Join(dir, "mnt")) }
	for name, tc := range map[string]struct {
		path string
		want []string
	}{
		"npm of Windows":  {windows + ":" + linux, []string{"warn  PATH            only Windows has " + windows + "/npm;", "  -> install them inside the distro"}},
		"Windows behind":  {linux + ":" + filepath.Join(dir, "mnt/d"), []string{"ok    PATH            programs of Windows come last"}},
		"Windows nowhere": {linux, []string{"ok    PATH            holds no folder of Windows"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)
			c := newTestCheckup(t, nil, nil)
			c.onDrvfs, c.login.OnDrvfs = onDrvfs, onDrvfs
			wantLines(t, c.windowsPrograms(t.Context())) // outside WSL
			c.wsl = &wslMachine{distro: "Ubuntu"}
			wantLines(t, c.windowsPrograms(t.Context()), tc.want...)
			wantLines(t, c.git(t.Context()), "ok    git             "+linux+"/git")
		})
	}
	t.Setenv("PATH", windows)
	c := newTestCheckup(t, nil, nil)
	wantLines(t, c.git(t.Context()), "warn  git             git is not on PATH", "  -> in a terminal run: sudo apt install git")
	wantLines(t, c.commandShell(t.Context()), "warn  shell           bash is not on PATH", "  -> install bash")
}

func TestDoctorProject(t *testing.T) {
	c := newTestCheckup(t, nil, nil)
	wantLines(t, c.project(t.Context()), "ok    folder          "+c.cwd)

	// A checkout that Git for Windows made, on a drive.
	person := filepath.Join(t.TempDir(), "mnt/c/Users/me")
	checkout := filepath.Join(person, "src")
	for path, text := range map[string]string{
		filepath.Join(person, ".gitconfig"):    "[core]\n\tautocrlf = true\n",
		filepath.Join(checkout, ".git/config"): "[core]\n\tfilemode = false\n\tsymlinks = false\n\tignorecase = true\n",
		filepath.Join(checkout, ".git/HEAD"):   "ref: refs/heads/main\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(checkout, ".git", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.cwd, c.onDrvfs = checkout, func(string) bool { return true }
	wantLines(t, c.project(t.Context()), "ok    folder          "+checkout+" is on a Windows drive", "ok    git checkout    made by Git for Windows: git inside WSL gets core.autocrlf=true, as in "+person+"/.gitconfig")

	c.cwd, c.wsl = `Q:\nowhere`, &wslMachine{distro: "Ubuntu", mounts: pathxlate.ParseMountInfo(`70 60 0:39 / /mnt/c rw - 9p C:\134 rw,aname=drvfs;path=C:\`, nil)}
	wantLines(t, c.project(t.Context()), `warn  folder          Q:\nowhere: the drive is not mounted inside WSL`, "  -> to work in it, inside the distro: mount it there with: sudo mkdir -p /mnt/q && ")

	c.cwd, c.wsl = filepath.Join(checkout, "gone"), nil
	wantLines(t, c.project(t.Context()), "warn  folder          ", "  -> name a folder that exists with --cwd")
}

func TestDoctorWSL(t *testing.T) {
	good := func() *wslMachine {
		return &wslMachine{
			distro: "Ubuntu", kernel: "6.6.87.2-microsoft-standard-WSL2", interop: true, socket: "/run/WSL/1_interop",
			mounts: pathxlate.ParseMountInfo(`70 60 0:39 / /win/c rw,noatime - 9p C:\134 rw,aname=drvfs;path=C:\;uid=1000`+"\n", nil),
			wslenv: "PATH/l:OPENAI_API_KEY/u:",
		}
	}
	for name, tc := range map[string]struct {
		change func(*wslMachine)
		want   []string
	}{
		"well": {func(*wslMachine) {}, []string{
			"ok    WSL             Ubuntu, WSL 2, kernel 6.6", "ok    drives          C: at /win/c",
			"ok    interop         ", "ok    WSLENV          from Windows: OPENAI_API_KEY, PATH",
		}},
		"WSL 1":         {func(w *wslMachine) { w.kernel = "4.4.0-19041-Microsoft" }, []string{"ok    WSL             Ubuntu, WSL 1"}},
		"no name":       {func(w *wslMachine) { w.distro = "" }, []string{"warn  WSL             this is WSL, but WSL_DISTRO_NAME is not set", "  -> do not start"}},
		"automount off": {func(w *wslMachine) { w.mounts = pathxlate.MountTable{} }, []string{"warn  drives          no drive", "  -> put enabled=true below [automount] in /etc/wsl.conf: inside Ubuntu (in PowerShell: wsl -d Ubuntu) run: sudo nano /etc/wsl.conf; then in PowerShell run: wsl --shutdown"}},
		"interop off":   {func(w *wslMachine) { w.interop = false }, []string{"warn  interop         programs of Windows do not start", "  -> put enabled=true below [interop]"}},
		"under sudo":    {func(w *wslMachine) { w.socket = "" }, []string{"warn  interop         WSL_INTEROP is not set", "  -> do not start"}},
		"empty WSLENV":  {func(w *wslMachine) { w.wslenv = "" }, []string{"ok    WSLENV          no variable"}},
		"odd WSLENV":    {func(w *wslMachine) { w.wslenv = "A/x:B/u" }, []string{"warn  WSLENV          WSL passes over entries with unknown flags: A/x", "  -> correct WSLENV on Windows"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCheckup(t, nil, nil)
			c.wsl = good()
			tc.change(c.wsl)
			var found []finding
			for _, check := range []func(context.Context) []finding{c.distro, c.drives, c.interop, c.windowsVariables} {
				found = append(found, check(t.Context())...)
			}
			wantLines(t, found, tc.want...)
		})
	}
}
