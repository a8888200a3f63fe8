// Package registry holds what the ACP registry
// (github.com/agentclientprotocol/registry) shows of hermes-acp.
package registry

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type manifest struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Description  string   `json:"description"`
	Repository   string   `json:"repository"`
	Website      string   `json:"website"`
	Authors      []string `json:"authors"`
	License      string   `json:"license"`
	Distribution struct {
		Binary map[string]target `json:"binary"`
	} `json:"distribution"`
}

type target struct {
	Archive string            `json:"archive"`
	Cmd     string            `json:"cmd"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// The registry's own rules: required fields, the pattern of ids and versions, no
// unknown fields in a distribution, no floating versions.
func TestManifestKeepsTheRegistrysRules(t *testing.T) {
	m := readManifest(t)
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(m.ID) || m.ID != "hermes-acp" {
		t.Errorf("id %q", m.ID)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(m.Version) {
		t.Errorf("version %q", m.Version)
	}
	if m.Name == "" || m.Description == "" || m.License != "MIT" || !strings.HasPrefix(m.Repository, "https://github.com/") {
		t.Errorf("name, description, license or repository of %+v", m)
	}
}

// Editors download by these URLs, so they are the names of the release's
// archives; the registry's bumper replaces the version in them by text.
func TestManifestNamesTheReleasesArchives(t *testing.T) {
	m := readManifest(t)
	platforms := map[string]string{
		"darwin-aarch64": "darwin_arm64.tar.gz", "darwin-x86_64": "darwin_amd64.tar.gz",
		"linux-aarch64": "linux_arm64.tar.gz", "linux-x86_64": "linux_amd64.tar.gz",
		"windows-aarch64": "windows_arm64.zip", "windows-x86_64": "windows_amd64.zip",
	}
	if len(m.Distribution.Binary) != len(platforms) {
		t.Errorf("%d platforms, want %d", len(m.Distribution.Binary), len(platforms))
	}
	for platform, suffix := range platforms {
		want := target{
			Archive: fmt.Sprintf("%s/releases/download/v%s/hermes-acp_%s_%s", m.Repository, m.Version, m.Version, suffix),
			Cmd:     "./hermes-acp",
		}
		if strings.HasPrefix(platform, "windows") {
			want.Cmd += ".exe"
		}
		if got := m.Distribution.Binary[platform]; got.Archive != want.Archive || got.Cmd != want.Cmd {
			t.Errorf("%s is %+v, want %+v", platform, got, want)
		}
	}
}

func TestManifestHasTheBuildsVersion(t *testing.T) {
	source, err := os.ReadFile("../../cmd/hermes-acp/main.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^var version = "(.*)"`).FindSubmatch(source)
	if found == nil {
		t.Fatal("main.go does not say the version")
	}
	if m := readManifest(t); m.Version != string(found[1]) {
		t.Errorf("the manifest has version %s, the build %s", m.Version, found[1])
	}
}

// An icon is 16x16 and has no colour but the editor's own, so no gradients either.
func TestIcon(t *testing.T) {
	icon, err := os.ReadFile("icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(icon))
	elements, usesCurrentColor := 0, false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if elements == 0 {
			checkRoot(t, element)
		}
		if strings.Contains(element.Name.Local, "Gradient") {
			t.Errorf("there is a %s", element.Name.Local)
		}
		for _, a := range element.Attr {
			switch name := a.Name.Local; {
			case name == "style" || strings.Contains(a.Value, "url("):
				t.Errorf("%s has %s=%q", element.Name.Local, name, a.Value)
			case name == "fill" || name == "stroke":
				if !slices.Contains([]string{"currentColor", "none", "inherit"}, a.Value) {
					t.Errorf("%s has the colour %q", element.Name.Local, a.Value)
				}
				usesCurrentColor = usesCurrentColor || a.Value == "currentColor"
			}
		}
		elements++
	}
	if elements == 0 || !usesCurrentColor {
		t.Error("nothing is drawn in currentColor")
	}
}

func checkRoot(t *testing.T, root xml.StartElement) {
	t.Helper()
	want := map[string]string{"width": "16", "height": "16", "viewBox": "0 0 16 16"}
	for _, a := range root.Attr {
		if want[a.Name.Local] == a.Value {
			delete(want, a.Name.Local)
		}
	}
	if root.Name.Local != "svg" || len(want) > 0 {
		t.Errorf("the root is %s and lacks %v", root.Name.Local, want)
	}
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	file, err := os.Open("agent.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var m manifest
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}
