// Command wsl is the simulated wsl.exe as a program of its own.
package main

import (
	"os"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

func main() {
	os.Exit(wslbridgetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) //nolint:forbidigo // a program's own stdout
}
