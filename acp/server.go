package acp

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// Config wires a connection. Agent and Version are required.
type Config struct {
	Agent   *agent.Agent
	Version string
	// SetupCommand is the command line that a person types to set up a model
	// provider, as it works on this machine; default "hermes-acp --setup".
	SetupCommand string
	// MaxLine is the longest line accepted, in bytes; default 64 MiB.
	MaxLine int
	// Catalog lists the models that a session can be switched to; nil lists
	// none but the current one. It may take as long as its provider does.
	Catalog func(ctx context.Context) ([]agent.ModelInfo, error)
	// SameDir reports whether two paths that differ name one folder all the
	// same, as on a file system that ignores case; nil says that none do.
	SameDir func(a, b string) bool
	// HTTPServers says that the agent reaches MCP servers over HTTP and SSE.
	HTTPServers bool
	// Trace, when set, is shown every frame; see NewTrace.
	Trace func(jsonrpc.Direction, []byte)
	Log   *slog.Logger
}

// Serve answers one client on r and w until it closes its side, which returns
// nil, or the connection fails, or ctx ends. By then every turn is cancelled, and
// has ended unless it hangs.
func Serve(ctx context.Context, r io.Reader, w io.Writer, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.SetupCommand == "" {
		cfg.SetupCommand = "hermes-acp --setup"
	}
	s := &server{
		cfg:   cfg,
		agent: cfg.Agent,
		log:   cfg.Log,
		views: map[string]*view{},
		conn:  jsonrpc.New(r, w, jsonrpc.Options{Logger: cfg.Log, MaxLine: cfg.MaxLine, Trace: cfg.Trace}),
	}
	return s.conn.Serve(ctx, s.handle)
}

// server is one client's connection.
type server struct {
	cfg   Config
	agent *agent.Agent
	log   *slog.Logger
	conn  *jsonrpc.Conn
	// client is what the client can show, as it said in initialize.
	client    atomic.Pointer[clientFeatures]
	loggedOut atomic.Bool
	catalog   catalog

	viewsMu sync.Mutex
	views   map[string]*view // by session id
}

// features returns what the client can show; nothing before initialize.
func (s *server) features() clientFeatures {
	if f := s.client.Load(); f != nil {
		return *f
	}
	return clientFeatures{}
}

// methodSessionSetModel is how models were set before configOptions. The protocol
// has dropped it, clients have not.
const methodSessionSetModel = "session/set_model"

// handle routes one message. It runs in the reader, in order of arrival.
func (s *server) handle(ctx context.Context, req *jsonrpc.Request) jsonrpc.Responder {
	if req.IsNotification() && req.Method != acpsdk.AgentMethodSessionCancel {
		s.log.InfoContext(ctx, "notification ignored", "method", req.Method)
		return nil
	}
	switch req.Method {
	case acpsdk.AgentMethodInitialize:
		return s.initialize(req)
	case acpsdk.AgentMethodAuthenticate:
		return respond(s, req, s.authenticate)
	case acpsdk.AgentMethodLogout:
		return respond(s, req, s.logout)
	case acpsdk.AgentMethodSessionNew:
		return respond(s, req, s.newSession)
	case acpsdk.AgentMethodSessionLoad:
		return inOrder(s, req, s.loadSession)
	case acpsdk.AgentMethodSessionResume:
		return inOrder(s, req, s.resumeSession)
	case acpsdk.AgentMethodSessionFork:
		return respond(s, req, s.forkSession)
	case acpsdk.AgentMethodSessionList:
		return respond(s, req, s.listSessions)
	case acpsdk.AgentMethodSessionClose:
		return respond(s, req, s.closeSession)
	case acpsdk.AgentMethodSessionDelete:
		return respond(s, req, s.deleteSession)
	case acpsdk.AgentMethodSessionSetMode:
		return inOrder(s, req, s.setMode)
	case methodSessionSetModel:
		return inOrder(s, req, s.setModel)
	case acpsdk.AgentMethodSessionSetConfigOption:
		return inOrder(s, req, s.setConfigOption)
	case acpsdk.AgentMethodSessionPrompt:
		return s.prompt(req)
	case acpsdk.AgentMethodSessionCancel:
		return s.cancel(req)
	default:
		return s.unknownMethod(req)
	}
}

// respond returns a Responder that decodes the parameters and calls f.
func respond[P any](s *server, req *jsonrpc.Request, f func(context.Context, *jsonrpc.Request, P) (any, error)) jsonrpc.Responder {
	return func(ctx context.Context) (any, error) {
		params, err := decode[P](req.Params)
		if err != nil {
			return nil, err
		}
		result, err := f(ctx, req, params)
		if err != nil {
			return nil, s.rpcError(err)
		}
		return result, nil
	}
}

// unknownMethod refuses a request. Clients probe for life with a few well-known
// names, which is nothing to log.
func (s *server) unknownMethod(req *jsonrpc.Request) jsonrpc.Responder {
	switch req.Method {
	case "ping", "health", "healthcheck":
	default:
		s.log.Info("unknown method", "method", req.Method)
	}
	return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method %q is not supported", req.Method))
}
