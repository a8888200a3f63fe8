//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/acp"
	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// serveFlags are the flags of an agent that an editor starts.
func serveFlags() []cli.Flag {
	return append(modelFlags(), ignoredFlags()...)
}

func sourceFrom(c *cli.Context) (config.Source, error) {
	home, err := config.Home(os.LookupEnv)
	if err != nil {
		return config.Source{}, err
	}
	return config.Source{
		Home: home, LookupEnv: os.LookupEnv,
		Provider: c.String("provider"), BaseURL: c.String("base-url"), Model: c.String("model"),
	}, nil
}

// serveAction serves one editor on stdin and stdout until it closes its side.
func serveAction(c *cli.Context) error {
	source, err := sourceFrom(c)
	if err != nil {
		return err
	}
	in, out := takeStdio()
	log, logPath, closeLog := newLogger(os.Stderr, filepath.Join(source.Home, "logs"))
	defer closeLog()

	// The signals that end a terminal's or an editor's children count as the end
	// of stdin. EPIPE, and not SIGPIPE, tells that nobody reads any more: caught
	// signals, unlike ignored ones, are back to normal in commands we start.
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	trace, closeTrace, err := openTrace(c.String("trace"))
	if err != nil {
		return err
	}
	defer closeTrace()
	var client io.ReadWriter = struct {
		io.Reader
		io.Writer
	}{in, out}
	if insideWSL() {
		stage, closeStage := dormantStage(in, out, source, log)
		defer closeStage()
		stage.Trace, trace = stageTrace(trace), nil
		client = stage
	}
	if err := serve(ctx, client, client, source, "hermes-acp --setup", trace, log); err != nil {
		log.ErrorContext(ctx, "the connection failed", "error", err)
		return fmt.Errorf("%w (log: %s)", err, logPath)
	}
	return nil
}

// dormantStage stands before the client on in and out. Inside WSL it may be an
// editor on Windows that started us by itself (wsl.exe hermes-acp): then its
// paths are Windows', and from the first of them on they are translated.
func dormantStage(in io.Reader, out io.Writer, source config.Source, log *slog.Logger) (stage *wslbridge.Stage, closeStage func()) {
	login := &wslbridge.LoginEnvironment{OnDrvfs: onDrvfs, Log: log}
	cfg := wslRewriteConfig(login, log)
	cfg.Dormant = true
	stage = wslbridge.NewStage(wslbridge.NewRewriter(cfg), in, out, maxLine(source), log)
	return stage, func() {
		if err := stage.Close(); err != nil {
			log.Debug("the last frame could not be written", "error", err)
		}
	}
}

// maxLine is the configured bound of a message in bytes.
func maxLine(source config.Source) int {
	if cfg, err := source.Read(); err == nil {
		return cfg.ACP.MaxLineMiB << 20
	}
	return config.DefaultSettings().ACP.MaxLineMiB << 20
}

// takeStdio takes stdin and stdout for the protocol. From here on nothing else
// in the process can write to the one by mistake, and what reads the other reads
// nothing.
func takeStdio() (in, out *os.File) {
	in, out = os.Stdin, os.Stdout
	os.Stdout = os.Stderr
	if null, err := os.Open(os.DevNull); err == nil {
		os.Stdin = null
	}
	return in, out
}

// serve answers one client until it closes its side (nil), ctx ends (nil), or
// the connection fails.
func serve(ctx context.Context, in io.Reader, out io.Writer, source config.Source, setupCommand string, trace traceFunc, log *slog.Logger) error {
	settings := config.DefaultSettings()
	if cfg, err := source.Read(); err == nil {
		settings = cfg.Settings
	} else {
		// Every session says so with the reason; the protocol works without.
		log.WarnContext(ctx, "the configuration cannot be read", "error", err)
	}
	workshop := newWorkshop(source, settings, log)
	defer workshop.close(ctx)
	log.InfoContext(ctx, "serving", "version", versionText())
	err := acp.Serve(ctx, in, out, acp.Config{
		Agent:   workshop.agent,
		Version: version,
		// What a person types to set up a provider, in the window they have.
		SetupCommand: setupCommand,
		MaxLine:      settings.ACP.MaxLineMiB << 20,
		Catalog:      workshop.models.list,
		SameDir:      sameDirOnDrive,
		HTTPServers:  true,
		Trace:        trace,
		Log:          log,
	})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// traceFunc records a frame; nil where none is to be recorded.
type traceFunc func(jsonrpc.Direction, []byte)

// openTrace opens the record of frames. Its lines hold no texts.
func openTrace(path string) (trace traceFunc, closeTrace func(), err error) {
	if path == "" {
		return nil, func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logFileMode)
	if err != nil {
		return nil, nil, fmt.Errorf("--trace: %w", err)
	}
	return acp.NewTrace(f, time.Now), func() { _ = f.Close() }, nil // every line was written at once
}

// stageTrace lets a stage record the frames, which sees them as client and agent spelled them.
func stageTrace(trace traceFunc) func(fromClient bool, frame []byte) {
	if trace == nil {
		return nil
	}
	return func(fromClient bool, frame []byte) {
		if fromClient {
			trace(jsonrpc.Inbound, frame)
		} else {
			trace(jsonrpc.Outbound, frame)
		}
	}
}
