//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-acp/hermes-acp/agent/config"
	"github.com/hermes-acp/hermes-acp/agent/llm"
)

// configuration reports whether .env and config.yaml can be read.
func (c *checkup) configuration(context.Context) []finding {
	const name = "configuration"
	if c.configErr != nil {
		return []finding{failureOf(name, c.configErr, c.mendConfiguration())}
	}
	var files []string
	for _, file := range []string{".env", "config.yaml"} {
		if path := filepath.Join(c.source.Home, file); exists(path) {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		return []finding{fine(name, "no .env and no config.yaml in "+c.source.Home)}
	}
	return []finding{fine(name, strings.Join(files, ", "))}
}

// mendConfiguration is what to do about configErr.
func (c *checkup) mendConfiguration() string {
	fault, ok := errors.AsType[*config.FileError](c.configErr)
	switch {
	case !ok:
		return c.toType("ls -la " + shellWord(c.source.Home))
	case fault.Line > 0:
		return fmt.Sprintf("mend line %d of %s in an editor", fault.Line, fault.Path)
	}
	return c.toType("ls -ld "+shellWord(fault.Path)) + ", and make it a text file that you can read"
}

// provider reports which model of whom is used, and which key.
func (c *checkup) provider(context.Context) []finding {
	const name = "provider"
	if c.configErr != nil {
		return nil // said by configuration
	}
	e, err := c.config.Endpoint("")
	if err != nil {
		f := failureOf(name, err, "name another one")
		f.Remedy += ", or " + c.toRun("--setup")
		return []finding{f}
	}
	if e.Provider == config.Offline {
		return []finding{fine(name, "the built-in offline model")}
	}
	key := "without a key"
	switch {
	case e.Key != "" && e.KeyName != "":
		key = "with the key " + e.KeyName
	case e.Key != "":
		key = "with a key of config.yaml"
	}
	return []finding{fine(name, fmt.Sprintf("%s of %s at %s, %s", e.Model, e.Provider, shownURL(e.BaseURL), key))}
}

// shownURL is an address without what may be secret in it.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is none"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// endpointPatience bounds the question to the provider.
const endpointPatience = 3 * time.Second

var errNoAnswer = fmt.Errorf("nothing within %v", endpointPatience)

// endpoint asks the provider for its list of models, which costs nothing.
func (c *checkup) endpoint(ctx context.Context) []finding {
	const name = "endpoint"
	if c.configErr != nil || c.offline {
		return nil
	}
	e, err := c.config.Endpoint("")
	if err != nil || e.Provider == config.Offline {
		return nil // said by provider
	}
	transport := llm.NewTransport()
	defer transport.CloseIdleConnections()
	client, err := llm.New(llm.Options{Provider: e.Provider, BaseURL: e.BaseURL, Model: e.Model, Key: string(e.Key), KeyName: e.KeyName}, transport)
	if err != nil {
		return []finding{failure(name, e.Provider+" has no http or https address", c.toRun("--setup"))}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, endpointPatience, errNoAnswer)
	defer cancel()
	served, err := client.Models(ctx)
	switch {
	case err != nil:
		return []finding{c.noAnswer(name, e, err)}
	case e.Model == config.AutoModel && len(served) == 0:
		return []finding{failure(name, e.Provider+" answers, and serves no model", "load a model there, or name one: "+c.toRun("--setup"))}
	case e.Model != config.AutoModel && len(served) > 0 && !serves(served, e.Model):
		return []finding{warning(name, fmt.Sprintf("%s answers, and does not list %s among its %d models", e.Provider, e.Model, len(served)), "choose one of its models: "+c.toRun("--setup"))}
	}
	return []finding{fine(name, fmt.Sprintf("%s answers", e.Provider))}
}

// noAnswer says why a provider did not list its models.
func (c *checkup) noAnswer(name string, e config.Endpoint, err error) finding {
	fault, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return failure(name, err.Error(), "check model.base_url in "+filepath.Join(c.source.Home, "config.yaml"))
	}
	switch fault.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired:
		return failure(name, fault.Error(), "store a key that it accepts: "+c.toRun("--setup"))
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return warning(name, e.Provider+" lists no models at "+shownURL(e.BaseURL), "if prompts fail too, check model.base_url in "+filepath.Join(c.source.Home, "config.yaml")+": it ends in the version, as /v1")
	case 0:
		if errors.Is(err, errNoAnswer) {
			break
		}
		return failure(name, fault.Error(), c.reachRemedy(e, err))
	}
	return warning(name, fault.Error(), "try again later, and if it stays so, see what the provider says about its state")
}

// reachRemedy is what to do about a provider that cannot be reached.
func (c *checkup) reachRemedy(e config.Endpoint, err error) string {
	address, parseErr := url.Parse(e.BaseURL)
	if parseErr != nil || !isLoopback(address.Hostname()) {
		return "check the network; behind a proxy set HTTPS_PROXY in the environment of the editor"
	}
	remedy := "start the server at " + shownURL(e.BaseURL)
	if !errors.Is(err, syscall.ECONNREFUSED) || c.wsl == nil {
		return remedy
	}
	// The localhost of a distro is not that of Windows, unless WSL mirrors the network.
	remedy += `; if it runs on Windows, put networkingMode=mirrored below [wsl2] in %USERPROFILE%\.wslconfig and in PowerShell run: wsl --shutdown`
	if gateway, ok := defaultGateway(c.wsl.routes); ok {
		remedy += fmt.Sprintf(", or let it listen on 0.0.0.0 (OLLAMA_HOST=0.0.0.0) and set model.base_url to http://%s:%s", gateway, address.Port()+address.Path)
	}
	return remedy
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// defaultGateway finds the address of Windows in the text of /proc/net/route: its
// numbers are hexadecimal, the lowest byte first.
func defaultGateway(routes string) (netip.Addr, bool) {
	for line := range strings.Lines(routes) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != "00000000" {
			continue
		}
		if n, err := strconv.ParseUint(fields[2], 16, 32); err == nil {
			return netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}), true
		}
	}
	return netip.Addr{}, false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
