//go:build !windows

package main

import (
	"context"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"sync"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/mcp"
	"github.com/hermes-acp/hermes-acp/agent/store"
	"github.com/hermes-acp/hermes-acp/agent/tools"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// workshop is the agent of one process with what it works with.
type workshop struct {
	agent  *agent.Agent
	models *models
	tools  *tools.Toolset
	store  *lazyStore
	log    *slog.Logger
}

func newWorkshop(source config.Source, settings config.Settings, log *slog.Logger) *workshop {
	w := &workshop{log: log, models: newModels(source), store: &lazyStore{dir: source.Home, log: log}}
	stripEnv := commandStripEnv(settings)
	login := &wslbridge.LoginEnvironment{Log: log}
	var translate func(string) (string, error)
	if insideWSL() {
		login.OnDrvfs = onDrvfs
		translate = translateWindowsPath
	}
	w.tools = tools.New(tools.Options{
		Env: login.Environ, StripEnv: stripEnv, Home: personHome(), OnDrvfs: login.OnDrvfs,
		CommandTimeout: settings.Terminal.Timeout.Duration(), Log: log,
	})
	offered := append(w.tools.Tools(), tools.SessionSearch(w.store.index))
	servers := mcp.NewConnector(mcp.Options{Version: version, Env: login.Environ, LookPath: login.LookPath, StripEnv: stripEnv, Log: log})
	w.agent = agent.New(agent.Config{
		Models:         w.models,
		Tools:          withoutToolsets(offered, settings.Agent.DisabledToolsets),
		Store:          func(ctx context.Context) (agent.Store, error) { return w.store.open(ctx) },
		ConnectServers: servers.Connect,
		SessionEnded:   w.tools.EndSession,
		Policy: agent.Policy{
			Timeout:   settings.Approvals.Timeout.Duration(),
			Rules:     w.store,
			Home:      personHome(),
			StateDir:  source.Home,
			TempDirs:  []string{os.TempDir()},
			FreeReads: freeReads(personHome()),
			Log:       log,
		},
		SystemPrompt: func(_ context.Context, ws *agent.Workspace, model agent.ModelInfo) string {
			return systemPrompt(ws, model, w.tools.ContextFiles(ws))
		},
		Translate: translate,
		Compaction: agent.Compaction{
			Disabled:  !settings.Compression.Enabled,
			Threshold: settings.Compression.Threshold,
			MaxTokens: settings.Compression.ThresholdTokens,
			InPlace:   settings.Compression.InPlace,
		},
		TitleModel:  settings.Auxiliary.TitleGeneration.ID(),
		Effort:      settings.Agent.ReasoningEffort,
		MaxRequests: settings.Agent.MaxTurns,
		Log:         log,
	})
	return w
}

// closeTimeout bounds what the end of a process may wait for.
const closeTimeout = 3 * time.Second

// close ends the sessions and what they work with. It does so too when ctx has
// ended, as at a signal.
func (w *workshop) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	w.agent.Close(ctx)
	w.tools.Close()
	if err := w.models.close(); err != nil {
		w.log.WarnContext(ctx, "could not stop the offline model", "error", err)
	}
	w.store.close()
}

// withoutToolsets leaves out the tools of Hermes' toolsets that the person
// disabled, by the name of the toolset or of the tool itself.
func withoutToolsets(offered []agent.Tool, disabled []string) []agent.Tool {
	toolsets := map[string][]string{
		"terminal": {"terminal", "process"},
		"file":     {"read_file", "write_file", "patch", "search_files", "list_dir"},
	}
	var names []string
	for _, name := range disabled {
		names = append(names, name)
		names = append(names, toolsets[name]...)
	}
	return slices.DeleteFunc(offered, func(t agent.Tool) bool { return slices.Contains(names, t.Spec().Name) })
}

// commandStripEnv names the variables that commands and MCP servers do not get.
func commandStripEnv(settings config.Settings) []string {
	keep := map[string]bool{}
	for _, name := range settings.Terminal.EnvPassthrough {
		keep[name] = true
	}
	var strip []string
	for _, name := range config.KeyNames() {
		if !keep[name] {
			strip = append(strip, name)
		}
	}
	return strip
}

// personHome is the person's home folder, from the password database when an
// editor starts us without HOME.
func personHome() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// freeReads are folders of programs and packages: reading there needs no leave,
// as they hold no secrets.
func freeReads(home string) []string {
	dirs := []string{"/usr", "/opt", "/lib", "/lib64", "/bin", "/sbin", "/nix/store", "/Library/Developer", "/System/Library"}
	if home == "" {
		return dirs
	}
	for _, cache := range []string{"go/pkg/mod", ".cargo/registry", ".rustup/toolchains", ".m2/repository", ".gradle/caches", ".nuget/packages"} {
		dirs = append(dirs, home+"/"+cache)
	}
	return dirs
}

// lazyStore opens the database when it is first needed, which is after
// initialize is answered. It keeps the lasting rules too.
type lazyStore struct {
	dir string
	log *slog.Logger

	mu sync.Mutex
	db *store.DB
}

func (l *lazyStore) open(ctx context.Context) (*store.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db != nil {
		return l.db, nil
	}
	db, err := store.Open(ctx, store.Options{Dir: l.dir, Log: l.log})
	if err != nil {
		return nil, err
	}
	l.db = db
	return db, nil
}

// index is the store as the session_search tool needs it.
func (l *lazyStore) index(ctx context.Context) (agent.SessionIndex, error) { return l.open(ctx) }

func (l *lazyStore) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db == nil {
		return
	}
	if err := l.db.Close(); err != nil {
		l.log.Warn("could not close the session store", "error", err)
	}
}

// Rules implements agent.Rules.
func (l *lazyStore) Rules(ctx context.Context, dir string) ([]agent.Rule, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return db.Rules(ctx, dir)
}

// AddRule implements agent.Rules.
func (l *lazyStore) AddRule(ctx context.Context, rule agent.Rule) error {
	db, err := l.open(ctx)
	if err != nil {
		return err
	}
	return db.AddRule(ctx, rule)
}
