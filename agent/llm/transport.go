package llm

import (
	"net"
	"net/http"
	"time"
)

// NewTransport returns a transport for any number of clients, which share its
// connections. It honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 8,
		ForceAttemptHTTP2:   true,
		// Proxies that compress a stream hold back its events.
		DisableCompression: true,
	}
}
