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
