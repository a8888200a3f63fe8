package wslbridge

import (
	"encoding/json"
	"fmt"
)

// WireVersion is the version of the lines that launcher and host exchange before the first frame.
const WireVersion = 1

// helloMarker begins the host's first line. It is looked for anywhere in the output, since a login
// banner or an escape sequence without a line end may stand in front of it (zed#56176).
const helloMarker = `{"hermes_acp_bridge":`

// Hello is the host's first line on stdout, one JSON object.
type Hello struct {
	Bridge  int    `json:"hermes_acp_bridge"` // WireVersion; must stay the first field
	Version string `json:"version"`           // of the program
	Distro  string `json:"distro"`            // WSL_DISTRO_NAME
	Home    string `json:"home"`              // Linux path
}

// Preamble is the launcher's first line after hello, one JSON object: what only Windows knows.
type Preamble struct {
	Launcher int               `json:"hermes_acp_launcher"` // WireVersion; must stay the first field
	Drives   map[string]string `json:"drives,omitempty"`    // "Z" -> `\\server\share` or `D:\sub`, for mapped and SUBST drives
	Command  []string          `json:"command,omitempty"`   // the launcher's command line, by which a client starts the agent again
}

func encodeLine(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // only the two structs above, which always marshal
	}
	return append(line, '\n')
}

func parseHello(line []byte) (Hello, error) {
	var h Hello
	if err := json.Unmarshal(line, &h); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	if h.Bridge != WireVersion {
		return Hello{}, fmt.Errorf("hermes-acp inside WSL speaks bridge version %d, this launcher %d", h.Bridge, WireVersion)
	}
	return h, nil
}
