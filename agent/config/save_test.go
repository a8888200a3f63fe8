package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func noEnv(string) (string, bool) { return "", false }

func TestSaveKeepsWhatIsThere(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".env", "# mine\r\nOTHER=1\r\nexport OPENROUTER_API_KEY=old\r\nLAST=x")
	write("config.yaml", "# mine too\nmodel: some/model\nother:\n  - 1 # one\n")
	source := Source{Home: home, LookupEnv: noEnv}
	sel := Selection{Provider: "openrouter", Model: "new/model", KeyName: "OPENROUTER_API_KEY", Key: "sk-new"}
	if err := source.Save(sel); err != nil {
		t.Fatal(err)
	}

	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if diff := cmp.Diff("# mine\r\nOTHER=1\r\nOPENROUTER_API_KEY='sk-new'\r\nLAST=x", read(".env")); diff != "" {
		t.Error(diff)
	}
	want := "# mine too\nmodel:\n  provider: openrouter\n  default: new/model\nother:\n  - 1 # one\n"
	if diff := cmp.Diff(want, read("config.yaml")); diff != "" {
		t.Error(diff)
	}
	cfg, err := source.Read()
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := cfg.Endpoint("")
	if err != nil || endpoint.Provider != "openrouter" || endpoint.Model != "new/model" || endpoint.Key != "sk-new" {
		t.Errorf("the saved selection resolves to %+v, %v", endpoint, err)
	}
	if !source.HasKey("openrouter") || source.HasKey("mistral") || !source.HasKey("ollama") {
		t.Error("HasKey does not tell which providers can be used")
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(filepath.Join(home, ".env")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of .env: %v, %v", info.Mode(), err)
		}
	}
}

func TestSaveIntoNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new", ".hermes")
	source := Source{Home: home, LookupEnv: noEnv}
	if err := source.Save(Selection{Provider: "custom", Model: "m", BaseURL: "http://127.0.0.1:1/v1"}); err != nil {
		t.Fatal(err)
	}
	cfg, err := source.Read()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := cfg.Endpoint(""); err != nil || e.BaseURL != "http://127.0.0.1:1/v1" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestSaveRefusesWhatItCannotKeep(t *testing.T) {
	home := t.TempDir()
	broken := "model: [\n"
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	source := Source{Home: home, LookupEnv: noEnv}
	if err := source.Save(Selection{Provider: "openrouter", Model: "m"}); err == nil {
		t.Error("a file that cannot be read was replaced")
	}
	if b, _ := os.ReadFile(filepath.Join(home, "config.yaml")); string(b) != broken {
		t.Errorf("the file is now %q", b)
	}
	if err := source.Save(Selection{Provider: "openrouter", KeyName: "K", Key: "a\nb"}); err == nil {
		t.Error("a key with a line break was stored")
	}
}
