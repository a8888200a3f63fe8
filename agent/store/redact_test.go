package store

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestRedact(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"go test ./...", "go test ./..."},
		{"git commit -m 'fix the tokenizer'", "git commit -m 'fix the tokenizer'"},
		{"cat keys.txt", "cat keys.txt"},
		{"OPENAI_API_KEY=sk-abc run", "OPENAI_API_KEY=[redacted] run"},
		{`export DB_PASSWORD="a b" && go`, "export DB_PASSWORD=[redacted] && go"},
		{"curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: Bearer [redacted]' x"},
		{`curl -H "authorization: token abc" x`, `curl -H "authorization: token [redacted]" x`},
		{"mysql --password hunter2 -u root", "mysql --password [redacted] -u root"},
		{"x --api-key=hunter2", "x --api-key=[redacted]"},
		{"git clone https://me:hunter2@host/r", "git clone https://me:[redacted]@host/r"},
		{"git clone https://host:8080/r", "git clone https://host:8080/r"},
		{"echo ghp_0123456789abcdefABCDEF", "echo [redacted]"},
		{"aws AKIAIOSFODNN7EXAMPLE", "aws [redacted]"},
	} {
		if got := redact(tt.text); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestActionsHoldNoSecrets(t *testing.T) {
	db := openIn(t, t.TempDir())
	err := db.RecordAction(t.Context(), agent.Action{SessionID: "s1", Command: "TOKEN=hunter2 x", Failure: "bad --password hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Actions(t.Context(), "s1")
	if err != nil || len(got) != 1 || got[0].Command != "TOKEN=[redacted] x" || got[0].Failure != "bad --password [redacted]" {
		t.Errorf("%+v, %v", got, err)
	}
}
