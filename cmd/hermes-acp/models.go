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
	read    *config.Config // what the files held at stamp
	stamp   config.Stamp
	clients map[config.Endpoint]*llm.Client
	offline *offline.Server
}

func newModels(source config.Source) *models {
	return &models{source: source, transport: llm.NewTransport(), clients: make(map[config.Endpoint]*llm.Client)}
}

// Model implements agent.Models. A model other than the configured one that its
// provider does not list is unknown; a provider that lists nothing is believed to
// serve it.
func (m *models) Model(ctx context.Context, id string) (agent.Model, error) {
	c, err := m.config()
	if err != nil {
		return nil, err
	}
	endpoint, err := c.Endpoint(id)
	if err != nil {
		return nil, err
	}
	client, known, err := m.client(endpoint)
	if err != nil {
		return nil, err
	}
	configured, err := c.Endpoint("")
	if known || err == nil && endpoint == configured {
		return client, nil
	}
	served, err := client.Models(ctx)
	if err == nil && len(served) > 0 && !serves(served, endpoint.Model) {
		m.forget(endpoint)
		return nil, fmt.Errorf("%w: %s does not list %s", agent.ErrUnknownModel, endpoint.Provider, endpoint.Model)
	}
	return client, nil
}

// list returns the models of the configured provider.
func (m *models) list(ctx context.Context) ([]agent.ModelInfo, error) {
	c, err := m.config()
	if err != nil {
		return nil, err
	}
	endpoint, err := c.Endpoint("")
	if err != nil {
		return nil, err
	}
	client, _, err := m.client(endpoint)
	if err != nil {
		return nil, err
	}
	return client.Models(ctx)
}

// config is the configuration as it stands. Files that have not changed are not
// parsed again.
func (m *models) config() (*config.Config, error) {
	stamp := m.source.Stamp()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.read != nil && stamp == m.stamp {
		return m.read, nil
	}
	c, err := m.source.Read()
	if err != nil {
		return nil, err
	}
	if stamp.Settled() {
		m.read, m.stamp = c, stamp
	}
	return c, nil
}

// client returns the client of an endpoint, which may be known already.
func (m *models) client(e config.Endpoint) (client *llm.Client, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if client, known = m.clients[e]; known {
		return client, true, nil
	}
	options := llm.Options{
		Provider:         e.Provider,
		BaseURL:          e.BaseURL,
		Model:            e.Model,
		Key:              string(e.Key),
		KeyName:          e.KeyName,
		ContextWindow:    e.ContextWindow,
		FirstByteTimeout: e.FirstByteTimeout,
		IdleTimeout:      e.IdleTimeout,
	}
	if e.Provider == config.Offline {
		if m.offline == nil {
			if m.offline, err = offline.Start(offline.Options{}); err != nil {
				return nil, false, err
			}
		}
		options.BaseURL, options.Model = m.offline.URL, offline.ModelID
	}
	if client, err = llm.New(options, m.transport); err != nil {
		return nil, false, err
	}
	m.clients[e] = client
	return client, false, nil
}

func (m *models) forget(e config.Endpoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clients, e)
}

// serves reports whether a list of ids holds a model. Google puts models/ in
// front of its own, and a name without its variant (qwen3 for qwen3:latest,
// or the other way round) will do.
func serves(listed []agent.ModelInfo, model string) bool {
	base, _, _ := strings.Cut(model, ":")
	return slices.ContainsFunc(listed, func(m agent.ModelInfo) bool {
		listedBase, _, _ := strings.Cut(m.ID, ":")
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
