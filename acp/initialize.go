package acp

import (
	"context"
	"encoding/json"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// protocolVersion is the one version spoken here; it answers any other one too,
// and the client decides whether it goes on.
const protocolVersion = 1

type initializeParams struct {
	ProtocolVersion    json.RawMessage `json:"protocolVersion"`
	ClientCapabilities struct {
		Auth struct {
			Terminal bool `json:"terminal"`
		} `json:"auth"`
		Session struct {
			Notices    *struct{} `json:"notices"`
			Compaction *struct{} `json:"compaction"`
		} `json:"session"`
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"clientCapabilities"`
	ClientInfo *acpsdk.Implementation `json:"clientInfo"`
}

// clientFeatures is what a client said it can show beyond the baseline.
type clientFeatures struct {
	terminalAuth bool // the protocol's own terminal auth methods
	// legacyTerminalAuth is the same by `_meta["terminal-auth"]`, from before
	// the protocol had them.
	legacyTerminalAuth bool
	notices            bool
	compaction         bool
	// terminalOutput is `_meta.terminal_output`: it shows terminals whose
	// output the agent sends.
	terminalOutput bool
}

func (p initializeParams) features() clientFeatures {
	c := p.ClientCapabilities
	return clientFeatures{
		terminalAuth:       c.Auth.Terminal,
		legacyTerminalAuth: string(c.Meta["terminal-auth"]) == "true",
		notices:            c.Session.Notices != nil,
		compaction:         c.Session.Compaction != nil,
		terminalOutput:     string(c.Meta["terminal_output"]) == "true",
	}
}

// initialize takes the client's capabilities in the reader, so that the next
// message already finds them.
func (s *server) initialize(req *jsonrpc.Request) jsonrpc.Responder {
	params, err := decode[initializeParams](req.Params)
	if err != nil {
		return jsonrpc.Fail(err)
	}
	if v := params.ProtocolVersion; len(v) > 0 && v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return jsonrpc.Fail(invalid("protocolVersion must be an integer such as %d, not %s", protocolVersion, v))
	}
	features := params.features()
	s.client.Store(&features)
	if c := params.ClientInfo; c != nil {
		s.log.Info("client connected", "client", c.Name, "client_version", c.Version)
	}
	return func(ctx context.Context) (any, error) {
		// The database is opened while the client reads the answer, so that
		// neither waits for the other. What is wrong with it shows when a session
		// needs it.
		req.AfterResponse = func() { _ = s.agent.OpenStore(ctx) }
		title := "Hermes"
		return acpsdk.InitializeResponse{
			ProtocolVersion: protocolVersion,
			AgentInfo:       &acpsdk.Implementation{Name: "hermes-acp", Title: &title, Version: s.cfg.Version},
			AuthMethods:     s.authMethods(ctx, features),
			AgentCapabilities: acpsdk.AgentCapabilities{
				LoadSession:        true,
				PromptCapabilities: acpsdk.PromptCapabilities{Image: true, EmbeddedContext: true},
				McpCapabilities:    acpsdk.McpCapabilities{Http: s.cfg.HTTPServers, Sse: s.cfg.HTTPServers},
				Auth:               acpsdk.AgentAuthCapabilities{Logout: &acpsdk.LogoutCapabilities{}},
				SessionCapabilities: acpsdk.SessionCapabilities{
					AdditionalDirectories: &acpsdk.SessionAdditionalDirectoriesCapabilities{},
					Close:                 &acpsdk.SessionCloseCapabilities{},
					Delete:                &acpsdk.SessionDeleteCapabilities{},
					Fork:                  &acpsdk.SessionForkCapabilities{},
					List:                  &acpsdk.SessionListCapabilities{},
					Resume:                &acpsdk.SessionResumeCapabilities{},
				},
			},
		}, nil
	}
}
