//go:build windows && !embed_agent

package main

import "github.com/hermes-acp/hermes-acp/wslbridge"

// embeddedPayload is empty in a development build, which takes --linux-binary.
func embeddedPayload() (*wslbridge.Payload, error) { return nil, nil }
