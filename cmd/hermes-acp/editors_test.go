package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

// README.md shows what `editors` prints, for a program on PATH.
func TestReadmeShowsTheSettingsOfEditors(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for i, block := range strings.Split(strings.ReplaceAll(string(readme), "\r\n", "\n"), "\n```") {
		if i%2 == 1 && strings.HasPrefix(block, "json\n") {
			shown = append(shown, strings.TrimPrefix(block, "json\n"))
		}
	}
	var want []string
	for _, e := range editors() {
		if e.language == "json" {
			want = append(want, e.settingsFor("hermes-acp"))
		}
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the JSON blocks of README.md (-want +got):\n%s", diff)
	}
}

// Whatever the path of the program, an editor that reads the settings gets it back.
func TestEditorSettingsQuoteTheProgram(t *testing.T) {
	for _, program := range []string{"hermes-acp", `C:\Program Files\Hermes & Co\hermes-acp.exe`, `/home/ü/"x"/<a>/hermes-acp`} {
		for _, e := range editors() {
			settings := e.settingsFor(program)
			quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(program) + `"`
			if !strings.Contains(settings, quoted) {
				t.Errorf("%s: %s does not hold %s", e.name, settings, quoted)
			}
			if e.language == "json" && !json.Valid([]byte(settings)) {
				t.Errorf("%s: not JSON: %s", e.name, settings)
			}
		}
	}
}

func TestEditorsCommand(t *testing.T) {
	t.Setenv("WSL_DISTRO_NAME", "")
	for name, tc := range map[string]struct {
		args    []string
		want    []string
		wantNot string
		wantErr string
	}{
		"all":     {nil, []string{"Zed\n", "JetBrains\n", "init.lua:\n", "agent-shell"}, "", ""},
		"one":     {[]string{"zed"}, []string{"Zed\n", `"type": "custom"`}, "JetBrains", ""},
		"unknown": {[]string{"ed"}, nil, "Zed", "known are zed, vscode, jetbrains, neovim, emacs"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			app := &cli.App{Writer: &out, ErrWriter: &bytes.Buffer{}, ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{editorsCommand()}}
			err := app.Run(append([]string{"hermes-acp", "editors"}, tc.args...))
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("error %v, want one with %q", err, tc.wantErr)
			}
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
			if tc.wantNot != "" && strings.Contains(out.String(), tc.wantNot) {
				t.Errorf("%q is in:\n%s", tc.wantNot, out.String())
			}
		})
	}
}
