package config

import (
	"cmp"
	"strings"
)

// Variables of the bridge (wslbridge/wslenv.go). Both hold names, separated by
// colons, commas, semicolons or blanks.
const (
	// envForwarded names the variables that came from Windows.
	envForwarded = "HERMES_ACP_FORWARDED"
	// envWinning names those of them that win over what WSL has.
	envWinning = "HERMES_ACP_ENV"
)

// environment is the process's environment and .env. An empty value counts as
// none.
type environment struct {
	lookup    func(string) (string, bool)
	dotenv    map[string]string
	forwarded map[string]bool // those that only fill gaps
}

func newEnvironment(lookup func(string) (string, bool), dotenv map[string]string) environment {
	e := environment{lookup: lookup, dotenv: dotenv, forwarded: make(map[string]bool)}
	for _, name := range names(lookup, envForwarded) {
		e.forwarded[name] = true
	}
	for _, name := range names(lookup, envWinning) {
		delete(e.forwarded, name)
	}
	return e
}

func names(lookup func(string) (string, bool), list string) []string {
	value, _ := lookup(list)
	return strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(":,; ", r) })
}

// process is a variable of this machine's own environment.
func (e environment) process(name string) string {
	if e.forwarded[name] {
		return ""
	}
	value, _ := e.lookup(name)
	return value
}

// gap is a variable from Windows that only fills a gap.
func (e environment) gap(name string) string {
	if !e.forwarded[name] {
		return ""
	}
	value, _ := e.lookup(name)
	return value
}

// own is a variable that this machine has, in its environment or in .env.
func (e environment) own(name string) string {
	return cmp.Or(e.process(name), e.dotenv[name])
}

// get is the value that counts.
func (e environment) get(name string) string {
	return cmp.Or(e.own(name), e.gap(name))
}
