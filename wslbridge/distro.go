package wslbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// Distro is a distro that is registered on this Windows account.
type Distro struct {
	Name    string
	GUID    string // with braces, as in the registry
	Version int    // of WSL: 1 or 2
	Ready   bool   // false while it is being installed or removed
}

// Registered is what the registry says about distros.
type Registered struct {
	Distros []Distro
	Default string // GUID; "" when there is none
}

// Errors of choosing a distro.
var (
	ErrNoDistro        = errors.New("no WSL distro is installed")
	ErrUnknownDistro   = errors.New("no such WSL distro")
	ErrAmbiguousDistro = errors.New("it is not clear which WSL distro to use")
)

// Wish is a distro that a person named, and where.
type Wish struct {
	Name   string
	Source string // for messages: "--distro", "HERMES_ACP_DISTRO" ...
}

// choose picks the distro to begin in. Without a wish the choice may be revised by the first session
// request, so fixed is false then.
func (r Registered) choose(wish Wish, workDir string) (distro Distro, fixed bool, err error) {
	if wish.Name != "" {
		distro, ok := r.find(wish.Name)
		switch {
		case ok:
			return distro, true, nil
		case len(r.Distros) == 0: // the registry told nothing; wsl.exe knows better
			return Distro{Name: wish.Name, Ready: true}, true, nil
		}
		return Distro{}, true, fmt.Errorf("%w: %q (from %s); installed are: %s", ErrUnknownDistro, wish.Name, wish.Source, r.names())
	}
	if name, ok := pathxlate.DistroOf(workDir); ok {
		if distro, ok := r.find(name); ok {
			return distro, false, nil
		}
	}
	var candidates []Distro
	for _, d := range r.Distros {
		if d.IsHelper() || !d.Ready {
			continue
		}
		if strings.EqualFold(d.GUID, r.Default) {
			return d, false, nil
		}
		candidates = append(candidates, d)
	}
	switch len(candidates) {
	case 1:
		return candidates[0], false, nil
	case 0:
		return Distro{}, false, fmt.Errorf("%w; in PowerShell run: wsl --install", ErrNoDistro)
	}
	return Distro{}, false, fmt.Errorf("%w; in PowerShell run: wsl --set-default NAME, or start hermes-acp.exe with --distro NAME; installed are: %s", ErrAmbiguousDistro, r.names())
}

func (r Registered) find(name string) (Distro, bool) {
	for _, d := range r.Distros {
		if strings.EqualFold(d.Name, name) {
			return d, true
		}
	}
	return Distro{}, false
}

func (r Registered) names() string {
	names := make([]string, len(r.Distros))
	for i, d := range r.Distros {
		names[i] = d.Name
	}
	return strings.Join(names, ", ")
}

// IsHelper tells a distro that belongs to a container engine and holds no shell for people
// (WSL#8727).
func (d Distro) IsHelper() bool {
	name := strings.ToLower(d.Name)
	return strings.HasPrefix(name, "docker-desktop") || strings.HasPrefix(name, "rancher-desktop")
}

// selector are the options of wsl.exe that select d. It takes quotes for a part of the name, so
// a name that would need them is given by its GUID.
func (d Distro) selector() []string {
	if strings.ContainsAny(d.Name, " \t\"") && d.GUID != "" {
		return []string{"--distribution-id", d.GUID}
	}
	return []string{"-d", d.Name}
}

// sessionRequest is what the launcher reads of a frame before the first session.
type sessionRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cwd string `json:"cwd"`
	} `json:"params"`
}

// parseRequest reports false for what is no request, which the agent will answer for itself.
func parseRequest(frame []byte) (sessionRequest, bool) {
	var r sessionRequest
	if err := json.Unmarshal(frame, &r); err != nil || r.Method == "" {
		return sessionRequest{}, false
	}
	return r, true
}

// namesFolder reports whether the request decides about the distro.
func (r sessionRequest) namesFolder() bool {
	switch r.Method {
	case "session/new", "session/load", "session/resume", "session/fork", "session/list":
		return r.Params.Cwd != ""
	}
	return false
}

// distroOf returns the distro that path lies in, looking through drives that are mapped to one.
func distroOf(path string, drives map[string]string) (string, bool) {
	if len(path) >= 2 && path[1] == ':' {
		if target, ok := drives[strings.ToUpper(path[:1])]; ok {
			path = target
		}
	}
	return pathxlate.DistroOf(path)
}
