package acp

import (
	"context"
	"slices"
	"sync"

	"github.com/hermes-acp/hermes-acp/agent"
)

// catalog is the list of models that can be chosen. Asking the provider for it
// may take long, so it is fetched once, after the first session is open.
type catalog struct {
	fetching sync.Mutex // held while the list is fetched

	mu      sync.Mutex
	fetched bool
	list    []agent.ModelInfo
}

func (c *catalog) models() []agent.ModelInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// holdsOther reports whether more can be chosen than what was shown.
func (c *catalog) holdsOther(shown *modelState) bool {
	return slices.ContainsFunc(c.models(), func(m agent.ModelInfo) bool {
		return shown == nil || !slices.ContainsFunc(shown.AvailableModels, func(s modelChoice) bool { return s.ModelID == m.ID })
	})
}

// offerCatalog fetches the list when it is not there yet. What it adds to what was
// shown of a session is told for every open one: more models, and the size of the
// context window, which providers tell there.
func (s *server) offerCatalog(ctx context.Context, shown sessionState) {
	if !s.fetchCatalog(ctx) {
		return
	}
	more := s.catalog.holdsOther(shown.Models)
	for _, id := range s.openSessions() {
		u, session := s.updates(id), s.agent.Session(id)
		if more {
			u.configOptions(ctx, session)
		}
		if shown.contextWindow == 0 {
			u.usage(ctx, session)
		}
	}
}

// fetchCatalog reports whether this call brought a list that was not there.
func (s *server) fetchCatalog(ctx context.Context) bool {
	c := &s.catalog
	if s.cfg.Catalog == nil || !c.fetching.TryLock() {
		return false
	}
	defer c.fetching.Unlock()
	c.mu.Lock()
	fetched := c.fetched
	c.mu.Unlock()
	if fetched {
		return false
	}
	list, err := s.cfg.Catalog(ctx)
	if err != nil {
		s.log.InfoContext(ctx, "models cannot be listed", "error", err)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fetched, c.list = true, list
	return true
}
