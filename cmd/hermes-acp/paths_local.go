//go:build !windows

package main

import "github.com/hermes-acp/hermes-acp/pathxlate"

// localTranslator translates by this machine's mounts inside WSL, and elsewhere as
// WSL does when nobody configures it.
func localTranslator() pathxlate.Translator {
	if insideWSL() {
		return wslTranslator()
	}
	return pathxlate.Translator{Mounts: pathxlate.AutomountRoot("/mnt/")}
}
