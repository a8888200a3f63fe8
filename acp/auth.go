package acp

import (
	"context"
	"os"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// Ids of the authentication methods that do not depend on the provider.
const (
	configMethod = "hermes-config"
	setupMethod  = "hermes-setup"
)

// provider returns the name of the configured provider; empty when none
// resolves. The configuration is read anew.
func (s *server) provider(ctx context.Context) (string, error) {
	model, err := s.agent.Model(ctx, "")
	if err != nil {
		return "", err
	}
	return strings.ToLower(model.Info().Provider), nil
}

// authMethods lists one method without a type first: some clients always call
// authenticate with the first one, so it has to succeed without a dialogue once
// a provider is configured. The terminal method is for clients that start it.
func (s *server) authMethods(ctx context.Context, client clientFeatures) []acpsdk.AuthMethod {
	first := &acpsdk.AuthMethodAgent{
		Id:          configMethod,
		Name:        "Hermes configuration",
		Description: new("Uses the model provider that is set up in ~/.hermes. To set one up, run `" + s.cfg.SetupCommand + "` in a terminal."),
	}
	if provider, err := s.provider(ctx); err == nil && provider != "" {
		first = &acpsdk.AuthMethodAgent{
			Id:          provider,
			Name:        provider + " runtime credentials",
			Description: new("Uses the credentials that are configured for " + provider + "."),
		}
	}
	methods := []acpsdk.AuthMethod{{Agent: first}}
	if !client.terminalAuth && !client.legacyTerminalAuth {
		return methods
	}
	setup := &acpsdk.AuthMethodTerminalInline{
		Id:          setupMethod,
		Type:        "terminal",
		Name:        "Set up a model provider",
		Args:        []string{"--setup"},
		Description: new("Asks for the provider, the key and the model in a terminal."),
	}
	if client.legacyTerminalAuth {
		setup.Meta = map[string]any{"terminal-auth": map[string]any{
			"label": "Set up Hermes", "command": thisProgram(), "args": setup.Args, "env": map[string]string{},
		}}
	}
	return append(methods, acpsdk.AuthMethod{Terminal: setup})
}

func thisProgram() string {
	path, err := os.Executable()
	if err != nil {
		return "hermes-acp"
	}
	return path
}

// authenticate succeeds when a provider resolves; there is nothing to log in to.
func (s *server) authenticate(ctx context.Context, _ *jsonrpc.Request, p acpsdk.AuthenticateRequest) (any, error) {
	provider, err := s.provider(ctx)
	if err != nil {
		return nil, err
	}
	switch id := strings.ToLower(strings.TrimSpace(p.MethodId)); id {
	case configMethod, setupMethod, provider:
		s.loggedOut.Store(false)
		return struct{}{}, nil
	default:
		return nil, invalid("methodId %q is not an authentication method here", p.MethodId)
	}
}

// logout makes new sessions need authenticate again, in this process only. Keys
// stay where they are.
func (s *server) logout(context.Context, *jsonrpc.Request, struct{}) (any, error) {
	s.loggedOut.Store(true)
	return struct{}{}, nil
}

// requireLogin refuses a new session after a logout.
func (s *server) requireLogin() error {
	if s.loggedOut.Load() {
		return jsonrpc.Errorf(codeAuthRequired, "logged out; authenticate first")
	}
	return nil
}
