package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/config"
)

func TestEndpoint(t *testing.T) {
	t.Parallel()
	const orURL, oaURL = "https://openrouter.ai/api/v1", "https://api.openai.com/v1"
	at := func(provider, baseURL, model string, key config.Secret, keyName string) config.Endpoint {
		return config.Endpoint{Provider: provider, BaseURL: baseURL, Model: model, Key: key, KeyName: keyName}
	}
	both := env{"OPENROUTER_API_KEY": "or", "OPENAI_API_KEY": "oa"}
	tests := map[string]struct {
		env          env
		dotenv, yaml string
		flags        config.Source
		id           string
		want         config.Endpoint
	}{
		"a key is enough":            {env: env{"OPENAI_API_KEY": "oa"}, want: at("openai", oaURL, "gpt-5-mini", "oa", "OPENAI_API_KEY")},
		"the first key of the table": {env: both, want: at("openrouter", orURL, "openrouter/auto", "or", "OPENROUTER_API_KEY")},
		"the second name of a key":   {env: env{"GOOGLE_API_KEY": "g"}, want: at("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", "g", "GOOGLE_API_KEY")},
		"as Hermes writes it": {
			dotenv: "ANTHROPIC_API_KEY=an\n", yaml: "model: {default: claude-opus-4-6, provider: anthropic}\n",
			want: at("anthropic", "https://api.anthropic.com/v1", "claude-opus-4-6", "an", "ANTHROPIC_API_KEY"),
		},
		"provider auto":                 {env: both, yaml: "model: {default: m, provider: auto}\n", want: at("openrouter", orURL, "m", "or", "OPENROUTER_API_KEY")},
		"a provider in capitals":        {env: both, yaml: "model: {provider: OpenAI}\n", want: at("openai", oaURL, "gpt-5-mini", "oa", "OPENAI_API_KEY")},
		"an alias":                      {dotenv: "XAI_API_KEY=x\n", yaml: "model: {provider: grok}\n", want: at("xai", "https://api.x.ai/v1", "grok-4", "x", "XAI_API_KEY")},
		"process before .env":           {env: env{"OPENAI_API_KEY": "p"}, dotenv: "OPENAI_API_KEY=d\n", want: at("openai", oaURL, "gpt-5-mini", "p", "OPENAI_API_KEY")},
		"an empty variable is none":     {env: env{"OPENAI_API_KEY": ""}, dotenv: "OPENAI_API_KEY=d\n", want: at("openai", oaURL, "gpt-5-mini", "d", "OPENAI_API_KEY")},
		"W62 CRLF in .env":              {dotenv: "# keys\r\nOPENAI_API_KEY=sk-x\r\nHERMES_MODEL=\"m\"\r\n", want: at("openai", oaURL, "m", "sk-x", "OPENAI_API_KEY")},
		"a byte order mark in .env":     {dotenv: "\ufeffOPENAI_API_KEY=sk-x\n", want: at("openai", oaURL, "gpt-5-mini", "sk-x", "OPENAI_API_KEY")},
		"export in .env":                {dotenv: "export OPENAI_API_KEY='sk-x'\n", want: at("openai", oaURL, "gpt-5-mini", "sk-x", "OPENAI_API_KEY")},
		"HERMES_MODEL before yaml":      {env: both, dotenv: "HERMES_MODEL=d\n", yaml: "model: y\n", want: at("openrouter", orURL, "d", "or", "OPENROUTER_API_KEY")},
		"process model before .env":     {env: env{"OPENAI_API_KEY": "oa", "HERMES_MODEL": "p"}, dotenv: "HERMES_MODEL=d\n", want: at("openai", oaURL, "p", "oa", "OPENAI_API_KEY")},
		"a flag before all":             {env: env{"OPENAI_API_KEY": "oa", "HERMES_MODEL": "p"}, flags: config.Source{Model: "f"}, want: at("openai", oaURL, "f", "oa", "OPENAI_API_KEY")},
		"HERMES_INFERENCE_PROVIDER":     {env: both, dotenv: "HERMES_INFERENCE_PROVIDER=openai\n", want: at("openai", oaURL, "gpt-5-mini", "oa", "OPENAI_API_KEY")},
		"a model that names a provider": {env: both, dotenv: "HERMES_MODEL=openai:gpt-5\n", want: at("openai", oaURL, "gpt-5", "oa", "OPENAI_API_KEY")},

		"a base URL is enough":       {env: env{"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, want: at("custom", "http://127.0.0.1:9/v1", "auto", "", "OPENAI_API_KEY")},
		"a base URL with a key":      {env: env{"OPENAI_BASE_URL": "http://h/v1", "OPENAI_API_KEY": "oa"}, want: at("custom", "http://h/v1", "auto", "oa", "OPENAI_API_KEY")},
		"another's key stays home":   {env: env{"OPENAI_BASE_URL": "http://h/v1", "OPENROUTER_API_KEY": "or"}, want: at("custom", "http://h/v1", "auto", "", "OPENAI_API_KEY")},
		"a known address":            {env: env{"OPENAI_BASE_URL": "https://api.deepseek.com/v1", "OPENAI_API_KEY": "oa", "DEEPSEEK_API_KEY": "ds"}, want: at("deepseek", "https://api.deepseek.com/v1", "deepseek-chat", "ds", "DEEPSEEK_API_KEY")},
		"base URL before yaml":       {env: env{"OPENAI_BASE_URL": "http://h/v1"}, yaml: "model: {default: y, provider: openrouter}\n", want: at("custom", "http://h/v1", "auto", "", "OPENAI_API_KEY")},
		"base URL of OpenAI":         {env: env{"HERMES_INFERENCE_PROVIDER": "openai", "OPENAI_API_KEY": "oa"}, dotenv: "OPENAI_BASE_URL=http://h/v1\n", want: at("openai", "http://h/v1", "gpt-5-mini", "oa", "OPENAI_API_KEY")},
		"not meant for openrouter":   {env: env{"OPENAI_BASE_URL": "http://h/v1", "HERMES_INFERENCE_PROVIDER": "openrouter", "OPENROUTER_API_KEY": "or"}, want: at("openrouter", orURL, "openrouter/auto", "or", "OPENROUTER_API_KEY")},
		"custom in yaml":             {yaml: "model: {default: m, provider: custom, base_url: 'http://h/v1', api_key: k}\n", want: at("custom", "http://h/v1", "m", "k", "model.api_key")},
		"the key of yaml stays":      {env: env{"OPENAI_BASE_URL": "http://other/v1"}, yaml: "model: {default: m, provider: custom, base_url: 'http://h/v1', api_key: k}\n", want: at("custom", "http://other/v1", "m", "", "OPENAI_API_KEY")},
		"a variable in yaml":         {dotenv: "MY_KEY=k\n", yaml: "model: {default: m, provider: custom, base_url: 'http://h/v1', api_key: '${MY_KEY}'}\n", want: at("custom", "http://h/v1", "m", "k", "model.api_key")},
		"a proxy for a provider":     {env: both, yaml: "model: {default: m, provider: openrouter, base_url: 'http://proxy/v1'}\n", want: at("openrouter", "http://proxy/v1", "m", "or", "OPENROUTER_API_KEY")},
		"ollama":                     {yaml: "model: {default: 'mistral:7b', provider: ollama}\n", want: at("ollama", "http://127.0.0.1:11434/v1", "mistral:7b", "", "")},
		"offline":                    {env: env{"OPENAI_API_KEY": "oa", "HERMES_MODEL": "p"}, flags: config.Source{Provider: "offline"}, want: config.Endpoint{Provider: "offline", Model: "offline"}},
		"offline in yaml":            {env: env{"OPENAI_API_KEY": "oa"}, yaml: "model: {provider: offline}\n", want: config.Endpoint{Provider: "offline", Model: "offline"}},
		"an endpoint of one's own":   {env: env{"LAB_KEY": "k"}, yaml: "model: {provider: lab}\ncustom_providers: [{name: lab, base_url: 'http://lab/v1', key_env: LAB_KEY, model: m}]\n", want: at("custom:lab", "http://lab/v1", "m", "k", "LAB_KEY")},
		"id with a provider":         {env: both, id: "openai:gpt-5", want: at("openai", oaURL, "gpt-5", "oa", "OPENAI_API_KEY")},
		"id with one's own":          {env: both, yaml: "custom_providers: [{name: lab, base_url: 'http://lab/v1', api_key: k}]\n", id: "custom:lab:qwen3:8b", want: at("custom:lab", "http://lab/v1", "qwen3:8b", "k", "")},
		"id with a colon of its own": {env: both, id: "deepseek/deepseek-chat:free", want: at("openrouter", orURL, "deepseek/deepseek-chat:free", "or", "OPENROUTER_API_KEY")},
		"id of the offline model":    {env: both, id: "offline:offline", want: config.Endpoint{Provider: "offline", Model: "offline"}},

		"forwarded fills a gap":           {env: env{"OPENAI_API_KEY": "win", "HERMES_ACP_FORWARDED": "OPENAI_API_KEY:OTHER"}, want: at("openai", oaURL, "gpt-5-mini", "win", "OPENAI_API_KEY")},
		"forwarded yields to .env":        {env: env{"OPENAI_API_KEY": "win", "HERMES_ACP_FORWARDED": "OPENAI_API_KEY"}, dotenv: "OPENAI_API_KEY=wsl\n", want: at("openai", oaURL, "gpt-5-mini", "wsl", "OPENAI_API_KEY")},
		"forwarded that must win":         {env: env{"OPENAI_API_KEY": "win", "HERMES_ACP_FORWARDED": "OPENAI_API_KEY", "HERMES_ACP_ENV": "OPENAI_API_KEY"}, dotenv: "OPENAI_API_KEY=wsl\n", want: at("openai", oaURL, "gpt-5-mini", "win", "OPENAI_API_KEY")},
		"forwarded place yields":          {env: env{"OPENAI_BASE_URL": "http://win/v1", "HERMES_ACP_FORWARDED": "OPENAI_BASE_URL"}, dotenv: "OPENROUTER_API_KEY=or\n", yaml: "model: {provider: openrouter, default: m}\n", want: at("openrouter", orURL, "m", "or", "OPENROUTER_API_KEY")},
		"forwarded place yields to a key": {env: env{"OPENAI_BASE_URL": "http://win/v1", "HERMES_ACP_FORWARDED": "OPENAI_BASE_URL"}, dotenv: "OPENROUTER_API_KEY=or\n", want: at("openrouter", orURL, "openrouter/auto", "or", "OPENROUTER_API_KEY")},
		"forwarded place fills a gap":     {env: env{"OPENAI_BASE_URL": "http://win/v1", "HERMES_ACP_FORWARDED": "OPENAI_BASE_URL"}, want: at("custom", "http://win/v1", "auto", "", "OPENAI_API_KEY")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source(t, tt.env, tt.dotenv, tt.yaml)
			s.Provider, s.BaseURL, s.Model = tt.flags.Provider, tt.flags.BaseURL, tt.flags.Model
			got, err := read(t, s).Endpoint(tt.id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("endpoint (-want +got):\n%s", diff)
			}
			if string(got.Key) != string(tt.want.Key) { // cmp prints it redacted, so say it here
				t.Errorf("another key than %q", string(tt.want.Key))
			}
		})
	}
}

func TestNoEndpoint(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env  env
		yaml string
		id   string
		is   error
		says string
	}{
		"nothing":              {nil, "", "", agent.ErrNoProvider, "put OPENROUTER_API_KEY, OPENAI_API_KEY"},
		"a model only":         {nil, "model: gpt-5\n", "", agent.ErrNoProvider, "no key is set"},
		"no key":               {nil, "model: {provider: openrouter}\n", "", agent.ErrNoProvider, "OPENROUTER_API_KEY is not set"},
		"an unknown provider":  {nil, "model: {provider: openai-codex}\n", "", agent.ErrNoProvider, `config.yaml names the provider "openai-codex"`},
		"custom without a URL": {nil, "model: {provider: custom}\n", "", agent.ErrNoProvider, "there is no base URL"},
		"no default model":     {env{"TOGETHER_API_KEY": "k"}, "", "", agent.ErrNoProvider, "no model of together is named"},
		"an id without a key":  {env{"OPENAI_API_KEY": "k"}, "", "anthropic:claude", agent.ErrUnknownModel, "ANTHROPIC_API_KEY is not set"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, source(t, tt.env, "", tt.yaml)).Endpoint(tt.id)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("endpoint %+v, error %v; want %v that says %q", got, err, tt.is, tt.says)
			}
		})
	}
}

func TestKeyNames(t *testing.T) {
	t.Parallel()
	got := config.KeyNames()
	for _, name := range []string{"OPENAI_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN"} {
		n := 0
		for _, g := range got {
			if g == name {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is listed %d times", name, n)
		}
	}
}
