package main

import "github.com/hermes-acp/hermes-acp/pathxlate"

// localTranslator translates as WSL does when nobody configures it: Windows cannot
// see the mounts.
func localTranslator() pathxlate.Translator {
	return pathxlate.Translator{Mounts: pathxlate.AutomountRoot("/mnt/")}
}
