//go:build windows && embed_agent

package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// The release build puts the agent for Linux here, of this program's own architecture: the gzipped
// binary, and its SHA-256 and size in bytes parted by a blank. scripts/embed-agent writes both.
var (
	//go:embed payload/hermes-acp.gz
	embeddedAgent []byte
	//go:embed payload/hermes-acp.sum
	embeddedSum string
)

func embeddedPayload() (*wslbridge.Payload, error) {
	payload := &wslbridge.Payload{Open: func() (io.ReadCloser, error) {
		return gzip.NewReader(bytes.NewReader(embeddedAgent))
	}}
	if _, err := fmt.Sscan(embeddedSum, &payload.SHA256, &payload.Size); err != nil {
		return nil, fmt.Errorf("read the embedded agent: %w", err)
	}
	return payload, nil
}
