package llmtest

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Server plays a script over HTTP on the loopback interface.
type Server struct {
	// URL is the base URL, ending in /v1.
	URL string

	tb      testing.TB
	rules   rules
	answers []answer
	gates   map[string]*gate
	stopped chan struct{}

	connections atomic.Int64

	mu       sync.Mutex
	requests []Request
}

// ModelID is the one model that the server lists.
const ModelID = "test-model"

type rules struct{ adjacentUsers bool }

// Option loosens a rule.
type Option func(*rules)

// AllowAdjacentUsers lets user messages follow each other.
func AllowAdjacentUsers(r *rules) { r.adjacentUsers = true }

// gate holds back a piece of an answer.
type gate struct {
	reached chan struct{}
	opened  chan struct{}
}

// Start starts a server that plays a script (see the package's documentation)
// and is stopped at the end of the test. The test fails on a request that breaks
// a rule, a request too many, and a section that nobody asked for.
func Start(tb testing.TB, script string, options ...Option) *Server {
	tb.Helper()
	answers, err := parse(script)
	if err != nil {
		tb.Fatalf("llmtest: script: %v", err)
	}
	s := &Server{tb: tb, answers: answers, gates: make(map[string]*gate), stopped: make(chan struct{})}
	for _, option := range options {
		option(&s.rules)
	}
	for _, a := range answers {
		for _, p := range a.pieces {
			if p.gate != "" {
				s.gates[p.gate] = &gate{reached: make(chan struct{}), opened: make(chan struct{})}
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"`+ModelID+`","object":"model"}]}`)
	})
	srv := httptest.NewUnstartedServer(mux)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	srv.Start()
	s.URL = srv.URL + "/v1"
	tb.Cleanup(func() {
		close(s.stopped)
		srv.CloseClientConnections()
		srv.Close()
		if got := len(s.Requests()); got < len(answers) {
			tb.Errorf("llmtest: %d requests came, the script has %d", got, len(answers))
		}
	})
	return s
}

// Requests are the requests that came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Connections counts the connections made so far.
func (s *Server) Connections() int { return int(s.connections.Load()) }

// Reached is closed when an answer waits at a gate and all before it was sent.
func (s *Server) Reached(name string) <-chan struct{} { return s.gate(name).reached }

// Open lets an answer pass a gate.
func (s *Server) Open(name string) { close(s.gate(name).opened) }

func (s *Server) gate(name string) *gate {
	s.tb.Helper()
	g := s.gates[name]
	if g == nil {
		s.tb.Fatalf("llmtest: the script has no gate %q", name)
	}
	return g
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req, err := readRequest(r.Header, body, s.rules)
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	if err != nil {
		s.tb.Errorf("llmtest: request %d: %v\n%s", n+1, err, body)
		refuse(w, err.Error())
		return
	}
	if n >= len(s.answers) {
		s.tb.Errorf("llmtest: request %d comes after the end of the script\n%s", n+1, body)
		refuse(w, "the script is at its end")
		return
	}
	s.play(w, r, s.answers[n])
}

func refuse(w http.ResponseWriter, reason string) {
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(object{"error": object{"message": "llmtest: " + reason}}) // the client may be gone
}

// play sends an answer. It flushes each piece, so that a client sees them as
// they are written.
func (s *Server) play(w http.ResponseWriter, r *http.Request, a answer) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	flush := func() { _ = http.NewResponseController(w).Flush() } // the client may be gone
	for _, p := range a.pieces {
		if p.gate != "" {
			close(s.gates[p.gate].reached)
			select {
			case <-s.gates[p.gate].opened:
			case <-r.Context().Done():
				return
			case <-s.stopped:
				return
			}
		}
		if !a.bytewise {
			_, _ = io.WriteString(w, p.text)
			flush()
			continue
		}
		for i := range len(p.text) {
			_, _ = io.WriteString(w, p.text[i:i+1])
			flush()
		}
	}
	if a.cut {
		panic(http.ErrAbortHandler) // net/http's way to close without an end
	}
}
