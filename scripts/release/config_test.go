// Package release holds what the archives of a release are to be, for the
// configuration of goreleaser and for what goreleaser made of it.
package release

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// config is the part of .goreleaser.yaml that others rely on.
type config struct {
	ProjectName string `yaml:"project_name"`
	Builds      []struct {
		ID      string
		Goos    []string
		Goarch  []string
		Env     []string
		Flags   []string
		Ldflags []string
	}
	Archives []struct {
		NameTemplate    string `yaml:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
	}
	Checksum struct{ Algorithm string }
}

func readConfig(t *testing.T) config {
	t.Helper()
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c config
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// manifest is what editors download by.
type manifest struct {
	Version      string
	Distribution struct {
		Binary map[string]struct{ Archive, Cmd string }
	}
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	text, err := os.ReadFile("../../acp/registry/agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// archives are the programs' names in the archives, by the archives' names.
func (m manifest) archives() map[string]string {
	programs := map[string]string{}
	for _, b := range m.Distribution.Binary {
		programs[path.Base(b.Archive)] = path.Base(b.Cmd)
	}
	return programs
}

func TestConfigNamesTheArchivesOfTheManifest(t *testing.T) {
	c, m := readConfig(t), readManifest(t)
	if len(c.Archives) != 1 {
		t.Fatalf("%d kinds of archives, want one", len(c.Archives))
	}
	kind := c.Archives[0]
	name, err := template.New("name").Parse(kind.NameTemplate)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range c.Builds {
		for _, goos := range b.Goos {
			formats := kind.Formats
			for _, o := range kind.FormatOverrides {
				if o.Goos == goos {
					formats = o.Formats
				}
			}
			for _, goarch := range b.Goarch {
				for _, format := range formats {
					var s strings.Builder
					err := name.Execute(&s, map[string]string{"ProjectName": c.ProjectName, "Version": m.Version, "Os": goos, "Arch": goarch})
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, s.String()+"."+format)
				}
			}
		}
	}
	var want []string
	for archive := range m.archives() {
		want = append(want, archive)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("archives (-acp/registry/agent.json +.goreleaser.yaml):\n%s", diff)
	}
	if c.Checksum.Algorithm != "sha256" {
		t.Errorf("checksums are %q", c.Checksum.Algorithm)
	}
}

// The lanes build with release_build, so that they measure and test what is
// released.
func TestConfigBuildsAsTheLanesDo(t *testing.T) {
	lib, err := os.ReadFile("../lib.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range readConfig(t).Builds {
		flags := []string{"-trimpath", "-tags=urfave_cli_no_docs"}
		if slices.Contains(b.Goos, "windows") {
			flags[1] += ",embed_agent"
			flags = append(flags, "-overlay=dist/payload_{{ .Arch }}/overlay.json")
		}
		if diff := cmp.Diff(flags, b.Flags); diff != "" {
			t.Errorf("flags of %s (-want +got):\n%s", b.ID, diff)
		}
		if diff := cmp.Diff([]string{"-s -w -X main.version={{ .Version }}"}, b.Ldflags); diff != "" {
			t.Errorf("ldflags of %s (-want +got):\n%s", b.ID, diff)
		}
		if diff := cmp.Diff([]string{"CGO_ENABLED=0"}, b.Env); diff != "" {
			t.Errorf("environment of %s (-want +got):\n%s", b.ID, diff)
		}
	}
	for _, line := range []string{
		"release_tags=urfave_cli_no_docs",
		`CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -tags="$release_tags" "$@" ./cmd/hermes-acp`,
	} {
		if !strings.Contains(string(lib), line) {
			t.Errorf("scripts/lib.sh builds otherwise: it has no %s", line)
		}
	}
}
