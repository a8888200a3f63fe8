package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Environment variables that say which model to use, beside the providers' keys.
const (
	envModel     = "HERMES_MODEL"
	envProvider  = "HERMES_INFERENCE_PROVIDER"
	envBaseURL   = "OPENAI_BASE_URL"
	envOpenAIKey = "OPENAI_API_KEY"
)

// Endpoint is one model and how to reach it. It is comparable.
type Endpoint struct {
	Provider string // a name of the provider table, or custom:NAME
	BaseURL  string // empty for Offline
	Model    string // or AutoModel
	Key      Secret // empty when none is needed
	KeyName  string // the variable that holds the key, for messages
	// ContextWindow is in tokens; 0 when unknown.
	ContextWindow    int
	FirstByteTimeout time.Duration // 0: the client's own
	IdleTimeout      time.Duration // 0: the client's own
}

// layer is what one place of the configuration says about the model. A layer
// without a provider says nothing about where to ask.
type layer struct {
	origin                   string
	provider, baseURL, model string
}

// readLayers returns the places in the order in which they count.
func (c *Config) readLayers() []layer {
	environ := func(origin string, get func(string) string) layer {
		l := layer{origin, get(envProvider), get(envBaseURL), get(envModel)}
		if p, ok := c.provider(l.provider); ok && !p.takesBaseURLVar() {
			l.baseURL = ""
		}
		return l
	}
	all := []layer{
		{"the command line", c.source.Provider, c.source.BaseURL, c.source.Model},
		environ("the environment", c.env.process),
		environ(".env", func(name string) string { return c.env.dotenv[name] }),
		{"config.yaml", c.Model.Provider, c.expand(c.Model.BaseURL), c.Model.Default},
		environ("the environment of Windows", c.env.gap),
	}
	for i, l := range all {
		all[i] = c.normal(l)
	}
	return all
}

// normal gives a layer the provider that its base URL or its model implies, by
// the name that the table has.
func (c *Config) normal(l layer) layer {
	switch {
	case l.provider != "" && l.provider != "auto":
	case l.baseURL != "":
		l.provider = providerAt(l.baseURL)
	default:
		l.provider = ""
		if p, model, ok := c.splitID(l.model); ok {
			l.provider, l.model = p.name, model
		}
	}
	if p, ok := c.provider(l.provider); ok {
		l.provider = p.name
	}
	return l
}

// Endpoint resolves the id of a model: PROVIDER:MODEL, or a model of the
// configured provider; empty is the configured default. Errors wrap
// agent.ErrNoProvider, or agent.ErrUnknownModel for an id whose provider cannot
// be used.
func (c *Config) Endpoint(id string) (Endpoint, error) {
	if p, model, ok := c.splitID(id); ok {
		e, err := c.endpoint(p, model)
		if err != nil {
			return Endpoint{}, fmt.Errorf("%w: %s: %s", agent.ErrUnknownModel, id, err.Error())
		}
		return e, nil
	}
	p, err := c.configured()
	if err != nil {
		return Endpoint{}, err
	}
	if id != "" {
		return c.endpoint(p, id)
	}
	model := c.first(p, func(l layer) string { return l.model })
	if model == "" || p.name == Offline { // which has one model, whatever the others' is
		model = p.model
	}
	if model == "" {
		return Endpoint{}, fmt.Errorf("%w: no model of %s is named; set model.default in %s, or HERMES_MODEL", agent.ErrNoProvider, p.name, c.path("config.yaml"))
	}
	return c.endpoint(p, model)
}

// splitID takes PROVIDER:MODEL apart. Names of models hold colons too
// (qwen3:8b), so only known providers count, the longest name first.
func (c *Config) splitID(id string) (p provider, model string, ok bool) {
	longest := 0
	for _, candidate := range c.providers {
		for _, name := range append(candidate.aliases, candidate.name) {
			rest, found := strings.CutPrefix(id, name+":")
			if found && rest != "" && len(name) > longest {
				p, model, ok, longest = candidate, rest, true, len(name)
			}
		}
	}
	return p, model, ok
}

// configured is the provider of the first layer that names one, else the first
// whose key is set. What came from Windows is looked at last: a key of this
// machine's own goes before a place that is named there.
func (c *Config) configured() (provider, error) {
	forwarded := len(c.layers) - 1
	for _, l := range c.layers[:forwarded] {
		if l.provider != "" {
			return c.named(l)
		}
	}
	if p, ok := firstWithKey(c.env.own); ok {
		return p, nil
	}
	if l := c.layers[forwarded]; l.provider != "" {
		return c.named(l)
	}
	if p, ok := firstWithKey(c.env.gap); ok {
		return p, nil
	}
	return provider{}, fmt.Errorf("%w: no provider is named and no key is set; put OPENROUTER_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL into %s", agent.ErrNoProvider, c.path(".env"))
}

// named is the provider that a layer names.
func (c *Config) named(l layer) (provider, error) {
	p, ok := c.provider(l.provider)
	if !ok {
		return provider{}, fmt.Errorf("%w: %s names the provider %q, which hermes-acp does not know; known are %s", agent.ErrNoProvider, l.origin, l.provider, knownNames())
	}
	return p, nil
}

func firstWithKey(get func(string) string) (provider, bool) {
	for _, p := range providers() {
		if key, _ := keyIn(get, p); key != "" {
			return p, true
		}
	}
	return provider{}, false
}

// first returns the first value that a layer about the given provider, or about
// none, has.
func (c *Config) first(p provider, value func(layer) string) string {
	for _, l := range c.layers {
		if v := value(l); v != "" && (l.provider == "" || l.provider == p.name) {
			return v
		}
	}
	return ""
}

// endpoint puts together how to reach a model of a provider.
func (c *Config) endpoint(p provider, model string) (Endpoint, error) {
	if p.name == Offline {
		return Endpoint{Provider: Offline, Model: model}, nil
	}
	e := Endpoint{
		Provider:         p.name,
		BaseURL:          c.baseURL(p),
		Model:            model,
		FirstByteTimeout: c.Model.FirstByteTimeout.Duration(),
		IdleTimeout:      c.Model.IdleTimeout.Duration(),
	}
	if e.BaseURL == "" {
		return Endpoint{}, fmt.Errorf("%w: the provider is %s, but there is no base URL; set model.base_url in %s, or OPENAI_BASE_URL", agent.ErrNoProvider, p.name, c.path("config.yaml"))
	}
	if model == c.Model.Default {
		e.ContextWindow = c.Model.ContextLength
	}
	if e.Key, e.KeyName = c.key(p, e.BaseURL); e.Key == "" && !p.keyOptional && len(p.keyVars) > 0 {
		return Endpoint{}, fmt.Errorf("%w: the provider is %s, but %s is not set; put it into %s", agent.ErrNoProvider, p.name, e.KeyName, c.path(".env"))
	}
	return e, nil
}

// baseURL is the first one given for a provider. OPENAI_BASE_URL counts for
// OpenAI also when another layer than its own chose OpenAI.
func (c *Config) baseURL(p provider) string {
	if given := c.first(p, func(l layer) string { return l.baseURL }); given != "" {
		return given
	}
	if given := c.env.get(envBaseURL); given != "" && p.takesBaseURLVar() {
		return given
	}
	return p.baseURL
}

// key returns a provider's key and the variable it comes from, or should. The
// key in config.yaml goes only where config.yaml points.
func (c *Config) key(p provider, baseURL string) (key Secret, name string) {
	if p.key != "" {
		return p.key, ""
	}
	yaml := c.normal(layer{provider: c.Model.Provider, baseURL: c.expand(c.Model.BaseURL)})
	if c.Model.APIKey != "" && yaml.provider == p.name && (yaml.baseURL == "" || yaml.baseURL == baseURL) {
		return Secret(c.expand(string(c.Model.APIKey))), "model.api_key"
	}
	return keyIn(c.env.get, p)
}

// keyIn looks for a provider's key among variables.
func keyIn(get func(string) string, p provider) (key Secret, name string) {
	for _, name := range p.keyVars {
		if value := get(name); value != "" {
			return Secret(value), name
		}
	}
	if len(p.keyVars) == 0 {
		return "", ""
	}
	return "", p.keyVars[0]
}

// expand puts in variables that config.yaml names as ${NAME}.
func (c *Config) expand(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return os.Expand(s, c.env.get)
}

func (c *Config) path(file string) string { return filepath.Join(c.source.Home, file) }

func knownNames() string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
