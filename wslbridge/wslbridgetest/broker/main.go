//go:build unix

// Command broker runs what the Windows build of the simulated wsl.exe starts.
package main

import (
	"fmt"
	"os"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

func main() {
	if err := wslbridgetest.Broker(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
