package config

import (
	"net/url"
	"slices"
	"strings"
)

// provider is a service with an OpenAI-compatible endpoint.
type provider struct {
	name    string
	aliases []string
	baseURL string
	// keyVars are the environment variables that can hold the key, the usual one
	// first; none when no key is needed.
	keyVars []string
	// model is the default, AutoModel for servers that run on the person's own
	// machine, empty when one must be named.
	model string

	keyOptional bool
	key         Secret // from custom_providers
}

// AutoModel as a model's name stands for the first model that the endpoint
// lists.
const AutoModel = "auto"

// Names of providers that are more than a row of the table.
const (
	// Offline is the model that is built into the program.
	Offline = "offline"
	// Custom is any endpoint given by its base URL.
	Custom = "custom"

	openAI = "openai"
)

// providers is the table, in the order in which keys are looked for when no
// provider is named.
func providers() []provider {
	return []provider{
		{name: "openrouter", baseURL: "https://openrouter.ai/api/v1", keyVars: []string{"OPENROUTER_API_KEY"}, model: "openrouter/auto"},
		{name: openAI, baseURL: "https://api.openai.com/v1", keyVars: []string{envOpenAIKey}, model: "gpt-5-mini"},
		{name: "anthropic", aliases: []string{"claude"}, baseURL: "https://api.anthropic.com/v1", keyVars: []string{"ANTHROPIC_API_KEY"}, model: "claude-sonnet-4-5"},
		{name: "nous", aliases: []string{"nous-portal"}, baseURL: "https://inference-api.nousresearch.com/v1", keyVars: []string{"NOUS_API_KEY"}, model: "Hermes-4-405B"},
		{name: "gemini", aliases: []string{"google"}, baseURL: "https://generativelanguage.googleapis.com/v1beta/openai", keyVars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, model: "gemini-2.5-flash"},
		{name: "deepseek", baseURL: "https://api.deepseek.com/v1", keyVars: []string{"DEEPSEEK_API_KEY"}, model: "deepseek-chat"},
		{name: "groq", baseURL: "https://api.groq.com/openai/v1", keyVars: []string{"GROQ_API_KEY"}, model: "openai/gpt-oss-120b"},
		{name: "mistral", baseURL: "https://api.mistral.ai/v1", keyVars: []string{"MISTRAL_API_KEY"}, model: "mistral-large-latest"},
		{name: "xai", aliases: []string{"grok"}, baseURL: "https://api.x.ai/v1", keyVars: []string{"XAI_API_KEY"}, model: "grok-4"},
		{name: "zai", aliases: []string{"glm", "z-ai"}, baseURL: "https://api.z.ai/api/paas/v4", keyVars: []string{"GLM_API_KEY", "ZAI_API_KEY"}, model: "glm-4.6"},
		{name: "kimi-coding", aliases: []string{"kimi", "moonshot"}, baseURL: "https://api.moonshot.ai/v1", keyVars: []string{"KIMI_API_KEY", "MOONSHOT_API_KEY"}, model: "kimi-k2-0905-preview"},
		{name: "minimax", baseURL: "https://api.minimax.io/v1", keyVars: []string{"MINIMAX_API_KEY"}, model: "MiniMax-M2"},
		{name: "together", baseURL: "https://api.together.xyz/v1", keyVars: []string{"TOGETHER_API_KEY"}},
		{name: "fireworks", baseURL: "https://api.fireworks.ai/inference/v1", keyVars: []string{"FIREWORKS_API_KEY"}},
		{name: "cerebras", baseURL: "https://api.cerebras.ai/v1", keyVars: []string{"CEREBRAS_API_KEY"}},
		{name: "huggingface", aliases: []string{"hf"}, baseURL: "https://router.huggingface.co/v1", keyVars: []string{"HF_TOKEN"}},
		{name: "ollama", baseURL: "http://127.0.0.1:11434/v1", model: AutoModel},
		{name: "lmstudio", aliases: []string{"lm-studio"}, baseURL: "http://127.0.0.1:1234/v1", model: AutoModel},
		{name: Custom, aliases: []string{"local"}, keyVars: []string{envOpenAIKey}, keyOptional: true, model: AutoModel},
		{name: Offline, model: Offline},
	}
}

// takesBaseURLVar reports whether OPENAI_BASE_URL is meant for the provider.
func (p provider) takesBaseURLVar() bool { return p.name == openAI || p.name == Custom }

// KeyNames are the environment variables that can hold a provider's key.
// Commands and MCP servers do not see them.
func KeyNames() []string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.keyVars...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownProviders are the endpoints that config.yaml names.
func (c *Config) ownProviders() []provider {
	var all []provider
	for _, own := range c.CustomProviders {
		p := provider{
			name:        Custom + ":" + own.Name,
			aliases:     []string{own.Name},
			baseURL:     c.expand(own.BaseURL),
			model:       own.Model,
			key:         Secret(c.expand(string(own.APIKey))),
			keyOptional: true,
		}
		if own.KeyEnv != "" {
			p.keyVars = []string{own.KeyEnv}
		}
		if p.model == "" {
			p.model = AutoModel
		}
		all = append(all, p)
	}
	return all
}

// provider finds a provider by its name or an alias.
func (c *Config) provider(name string) (provider, bool) {
	for _, p := range c.providers {
		for _, known := range append(p.aliases, p.name) {
			if strings.EqualFold(known, name) {
				return p, true
			}
		}
	}
	return provider{}, false
}

// providerAt returns the name of the provider whose own address a base URL is,
// else Custom. With the address of DeepSeek goes DeepSeek's key, and no other.
func providerAt(baseURL string) string {
	host := hostOf(baseURL)
	for _, p := range providers() {
		if host != "" && len(p.keyVars) > 0 && hostOf(p.baseURL) == host {
			return p.name
		}
	}
	return Custom
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
