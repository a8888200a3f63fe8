package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFlagWords(t *testing.T) {
	for line, want := range map[string]string{
		"--distro Debian":                             "--distro Debian",
		"--distro=Debian --user u --trace":            "--distro=Debian --user u",
		"-distro Debian --env A --env=B":              "-distro Debian --env A --env=B",
		"distro Debian":                               "",
		"--distro":                                    "--distro",
		"--distro --user":                             "--distro --user",
		"--trace f --agent codex --distro Debian acp": "--distro Debian",
	} {
		if got := strings.Join(flagWords(strings.Fields(line), "distro", "user", "env"), " "); got != want {
			t.Errorf("%q keeps %q, want %q", line, got, want)
		}
	}
}

func TestWithActionFirst(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "",
		"acp":                        "acp",
		"--setup":                    "setup",
		"acp --yes --setup":          "setup",
		"--model m --check acp":      "check --model m",
		"--provider=p --setup":       "setup --provider=p",
		"--setup --check":            "check",
		"--check -- codex --version": "check -- codex --version",
		"run -- --setup":             "run -- --setup",
	} {
		args := append([]string{"hermes-acp"}, strings.Fields(line)...)
		if got := withActionFirst(slices.Clone(args)); strings.Join(got[1:], " ") != want {
			t.Errorf("%q became %q, want %q", line, got[1:], want)
		}
	}
}
