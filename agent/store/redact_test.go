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
		{`export A_TOKEN="x\" hunter2" B_TOKEN='a b'c && go`, `export A_TOKEN=[redacted] B_TOKEN=[redacted] && go`},
		{`PASSWORD=ab\ cd run`, "PASSWORD=[redacted] run"},
		{`curl -H "X-Api-Key: hunter2" -d "text" "https://host/x?api_key=hunter2&b=1"`, `curl -H "X-Api-Key: [redacted]" -d "text" "https://host/x?api_key=[redacted]&b=1"`},
		{`curl -d '{"password":"hunter2", "user": "me"}'`, `curl -d '{"password":"[redacted]", "user": "me"}'`},
		{`curl -d "{\"password\": \"hunter2\"}"`, `curl -d "{\"password\": \"[redacted]\"}"`},
		{"curl -u me:hunter2 https://host", "curl -u me:[redacted] https://host"},
		{"curl --user 'me:hunter2' x", "curl --user 'me:[redacted]' x"},
		{"sudo -u me ls", "sudo -u me ls"},
		{"curl -H 'Cookie: session=hunter2; id=1' x", "curl -H 'Cookie: [redacted]' x"},
		{"sshpass -p hunter2 ssh host", "sshpass -p [redacted] ssh host"},
		{"mysql -u root -phunter2 db", "mysql -u root -p[redacted] db"},
		{"mysql -p db", "mysql -p db"},
		{"docker login -u me -p hunter2 host", "docker login -u me -p [redacted] host"},
		{"mkdir -p a/b", "mkdir -p a/b"},
		{"aws configure set aws_secret_access_key hunter2", "aws configure set aws_secret_access_key [redacted]"},
		{"openssl rsa -passin pass:hunter2 -in key.pem", "openssl rsa -passin pass:[redacted] -in key.pem"},
		{"git clone https://hunter2@github.com/r", "git clone https://[redacted]@github.com/r"},
		{"git clone https://me:a@b@host/r", "git clone https://me:[redacted]@host/r"},
		{"git clone ssh://git@host/r", "git clone ssh://git@host/r"},
		{"npm i @scope/pkg@1.2 https://host/a@b", "npm i @scope/pkg@1.2 https://host/a@b"},
		{"cat <<E\n-----BEGIN RSA PRIVATE KEY-----\nMIIa\n-----END RSA PRIVATE KEY-----\nE", "cat <<E\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nE"},
		{"echo hf_0123456789abcdef", "echo [redacted]"},
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
