//go:build !windows

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/llm"
	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// modelsOf returns the models of a home folder with the given .env.
func modelsOf(t *testing.T, dotenv string) *models {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".env"), []byte(dotenv), 0o600); err != nil {
		t.Fatal(err)
	}
	m := newModels(config.Source{Home: home, LookupEnv: func(string) (string, bool) { return "", false }})
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestModels(t *testing.T) {
	t.Parallel()
	const url = "OPENAI_BASE_URL=URL\n"
	tests := map[string]struct {
		dotenv, id string
		want       agent.ModelInfo
		err        error
	}{
		"nothing configured":       {"", "", agent.ModelInfo{}, agent.ErrNoProvider},
		"the first served":         {url, "", agent.ModelInfo{ID: llm.AutoModel, Provider: "custom"}, nil},
		"the configured, unlisted": {url + "HERMES_MODEL=mine\n", "", agent.ModelInfo{ID: "mine", Provider: "custom"}, nil},
		"the configured by its id": {url + "HERMES_MODEL=mine\n", "mine", agent.ModelInfo{ID: "mine", Provider: "custom"}, nil},
		"one that is listed":       {url, llmtest.ModelID, agent.ModelInfo{ID: llmtest.ModelID, Provider: "custom"}, nil},
		"one that is not listed":   {url, "other", agent.ModelInfo{}, agent.ErrUnknownModel},
		"a provider without a key": {url, "anthropic:claude", agent.ModelInfo{}, agent.ErrUnknownModel},
		"nobody to ask":            {"OPENAI_BASE_URL=http://127.0.0.1:1/v1\n", "other", agent.ModelInfo{ID: "other", Provider: "custom"}, nil},
		"offline":                  {"HERMES_INFERENCE_PROVIDER=offline\n", "", agent.ModelInfo{ID: "offline", Provider: "offline"}, nil},
		"offline, another's name":  {"HERMES_INFERENCE_PROVIDER=offline\nHERMES_MODEL=big\n", "", agent.ModelInfo{ID: "offline", Provider: "offline"}, nil},
		"offline, another's id":    {"HERMES_INFERENCE_PROVIDER=offline\n", "big", agent.ModelInfo{}, agent.ErrUnknownModel},
		"offline by id":            {url, "offline:offline", agent.ModelInfo{ID: "offline", Provider: "offline"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.Start(t, "")
			m := modelsOf(t, strings.ReplaceAll(tt.dotenv, "URL\n", srv.URL+"\n"))
			got, err := m.Model(t.Context(), tt.id)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tt.want, got.Info()); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
			if again, err := m.Model(t.Context(), tt.id); again != got || err != nil {
				t.Errorf("another client the second time, error %v", err)
			}
		})
	}
}

// W62: a carriage return at the end of a line of .env is no part of the key.
func TestW62_KeyFromCRLFFile(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext ok\n")
	m := modelsOf(t, "OPENAI_BASE_URL="+srv.URL+"\r\nOPENAI_API_KEY=sk-x\r\n")
	model, err := m.Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	req := agent.ModelRequest{Messages: []agent.Message{agent.TextMessage(agent.RoleUser, "hi")}}
	if _, err := model.Stream(t.Context(), req, func(agent.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if got := srv.Requests()[0].Header.Get("Authorization"); got != "Bearer sk-x" {
		t.Errorf("authorization %q", got)
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	listed := []agent.ModelInfo{{ID: "models/gemini-2.5-flash"}, {ID: "qwen3:latest"}, {ID: "deepseek/deepseek-chat"}}
	for model, want := range map[string]bool{
		"gemini-2.5-flash": true, "models/gemini-2.5-flash": true, "qwen3": true, "qwen3:latest": true,
		"deepseek/deepseek-chat:free": true, "qwen": false, "flash": false, "gpt-5": false,
	} {
		if got := serves(listed, model); got != want {
			t.Errorf("%s: %v", model, got)
		}
	}
}
