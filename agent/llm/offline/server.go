package offline

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// ModelID is the one model that the server lists.
const ModelID = "offline"

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

// Options tune a server.
type Options struct {
	// Delay is the pause between the pieces of an answer, as a real model has it.
	Delay time.Duration
}

// Server is a running offline model.
type Server struct {
	// URL is the base URL, ending in /v1.
	URL string

	options Options
	http    *http.Server
	served  chan struct{}
}

// Start starts a server on a free port of 127.0.0.1.
func Start(options Options) (*Server, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("start the offline model: %w", err)
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String() + "/v1",
		options: options,
		served:  make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", listModels)
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // ends with Close, the only way
	}()
	return s, nil
}

// Close ends the server and the answers that it is still giving.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	return err
}

func listModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{{"id": ModelID, "object": "model", "owned_by": "hermes-acp"}}})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, err)
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, err)
		return
	}
	reply := respond(req)
	if req.Stream {
		stream(r.Context(), w, reply, s.options.Delay)
		return
	}
	writeJSON(w, http.StatusOK, reply.whole())
}

func refuse(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusBadRequest, object{"error": object{"message": "the offline model cannot read the request: " + err.Error(), "type": "invalid_request_error"}})
}

// object is JSON under construction.
type object = map[string]any

func writeJSON(w http.ResponseWriter, status int, v object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
