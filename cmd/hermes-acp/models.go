//go:build !windows

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/llm"
	"github.com/hermes-acp/hermes-acp/agent/llm/offline"
)

// models implements agent.Models: it resolves a model from the configuration as
// it stands now, and keeps one client for each endpoint, which remembers what
// its provider refuses.
type models struct {
	source    config.Source
	transport *http.Transport

	mu      sync.Mutex
	clients map[config.Endpoint]*llm.Client
	offline *offline.Server
}

func newModels(source config.Source) *models {
	return &models{source: source, transport: llm.NewTransport(), clients: map[config.Endpoint]*llm.Client{}}
}

// Model implements agent.Models.
func (m *models) Model(ctx context.Context, id string) (agent.Model, error) {
	cfg, err := m.source.Read()
	if err != nil {
		return nil, err
	}
	endpoint, err := cfg.Endpoint(id)
	if err != nil {
		return nil, err
	}
	return m.client(ctx, endpoint)
}

func (m *models) client(ctx context.Context, endpoint config.Endpoint) (*llm.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if client, ok := m.clients[endpoint]; ok {
		return client, nil
	}
	options := llm.Options{
		Provider: endpoint.Provider, BaseURL: endpoint.BaseURL, Model: endpoint.Model,
		Key: string(endpoint.Key), KeyName: endpoint.KeyName, ContextWindow: endpoint.ContextWindow,
		FirstByteTimeout: endpoint.FirstByteTimeout, IdleTimeout: endpoint.IdleTimeout,
	}
	if endpoint.Provider == config.Offline {
		if m.offline == nil {
			server, err := offline.Start(context.WithoutCancel(ctx), offline.Options{})
			if err != nil {
				return nil, err
			}
			m.offline = server
		}
		options.BaseURL = m.offline.URL
	}
	client, err := llm.New(options, m.transport)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", endpoint.Model, err)
	}
	m.clients[endpoint] = client
	return client, nil
}

// close ends the offline model and idle connections.
func (m *models) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transport.CloseIdleConnections()
	if m.offline == nil {
		return nil
	}
	return m.offline.Close()
}
