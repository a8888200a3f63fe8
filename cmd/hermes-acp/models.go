//go:build !windows

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/llm"
	"github.com/hermes-acp/hermes-acp/agent/llm/offline"
)

// models finds models as the configuration names them. It keeps the clients it
// made, with what they learned about their providers, and starts the offline
// model when that is first asked for.
type models struct {
	source    config.Source
	transport *http.Transport

	mu      sync.Mutex
	clients map[config.Endpoint]*llm.Client
	offline *offline.Server
}

func newModels(source config.Source) *models {
	return &models{source: source, transport: llm.NewTransport(), clients: make(map[config.Endpoint]*llm.Client)}
}

// Model implements agent.Models. A model that is asked for by its id and that
// its provider does not list is unknown; a provider that lists nothing is
// believed to serve it.
func (m *models) Model(ctx context.Context, id string) (agent.Model, error) {
	c, err := m.source.Read()
	if err != nil {
		return nil, err
	}
	endpoint, err := c.Endpoint(id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if client, ok := m.clients[endpoint]; ok {
		return client, nil
	}
	client, err := m.connect(endpoint)
	if err != nil {
		return nil, err
	}
	if id != "" && endpoint.Model != config.AutoModel {
		if served, err := client.Models(ctx); err == nil && len(served) > 0 && !serves(served, endpoint.Model) {
			return nil, fmt.Errorf("%w: %s does not list %s", agent.ErrUnknownModel, endpoint.Provider, endpoint.Model)
		}
	}
	m.clients[endpoint] = client
	return client, nil
}

// connect makes the client of an endpoint.
func (m *models) connect(e config.Endpoint) (*llm.Client, error) {
	if e.Provider == config.Offline {
		if m.offline == nil {
			server, err := offline.Start(offline.Options{})
			if err != nil {
				return nil, err
			}
			m.offline = server
		}
		e.BaseURL, e.Model = m.offline.URL, offline.ModelID
	}
	return llm.New(llm.Options{
		Provider:         e.Provider,
		BaseURL:          e.BaseURL,
		Model:            e.Model,
		Key:              string(e.Key),
		KeyName:          e.KeyName,
		ContextWindow:    e.ContextWindow,
		FirstByteTimeout: e.FirstByteTimeout,
		IdleTimeout:      e.IdleTimeout,
	}, m.transport)
}

// serves reports whether a list of ids holds a model. Google puts models/ in
// front of its own, and a name without its variant (qwen3 for qwen3:latest,
// or the other way round) will do.
func serves(listed []string, model string) bool {
	base, _, _ := strings.Cut(model, ":")
	return slices.ContainsFunc(listed, func(id string) bool {
		listedBase, _, _ := strings.Cut(id, ":")
		return listedBase == base || strings.HasSuffix(listedBase, "/"+base)
	})
}

// close ends the offline model and the connections.
func (m *models) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transport.CloseIdleConnections()
	if m.offline == nil {
		return nil
	}
	return m.offline.Close()
}
