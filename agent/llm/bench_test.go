package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// manyChunks is a stream of n chunks of four bytes of text each.
func manyChunks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl_000001","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,"delta":{"content":"%03x "},"finish_reason":null}]}`+"\n\n", i&0xfff)
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// BenchmarkStream20000 reads 20,000 chunks from memory: this package's share of
// a long answer.
func BenchmarkStream20000(b *testing.B) {
	body := manyChunks(20_000)
	c := fakeClient(b, endless{body})
	b.ReportAllocs()
	for b.Loop() {
		got, err := c.Stream(b.Context(), hi(), func(agent.Delta) {})
		if err != nil || len(got.Message.Text()) != 80_000 {
			b.Fatalf("%d bytes, error %v", len(got.Message.Text()), err)
		}
	}
}

// BenchmarkTurn is one small answer over loopback HTTP, the server's work
// included.
func BenchmarkTurn(b *testing.B) {
	benchmarkHTTP(b, manyChunks(1), 4)
}

// BenchmarkStream20000HTTP is the long answer over loopback HTTP, each chunk
// flushed by the server, whose work is included.
func BenchmarkStream20000HTTP(b *testing.B) {
	benchmarkHTTP(b, manyChunks(20_000), 80_000)
}

func benchmarkHTTP(b *testing.B, body string, size int) {
	b.Helper()
	events := strings.SplitAfter(body, "\n\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for _, event := range events {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	b.Cleanup(srv.Close)
	c := newClient(b, srv.URL)
	b.ReportAllocs()
	for b.Loop() {
		got, err := c.Stream(b.Context(), hi(), func(agent.Delta) {})
		if err != nil || len(got.Message.Text()) != size {
			b.Fatalf("%d bytes, error %v", len(got.Message.Text()), err)
		}
	}
}

// endless gives every request the same answer.
type endless struct{ body string }

func (e endless) RoundTrip(*http.Request) (*http.Response, error) {
	return canned{status: 200, body: e.body}.response(), nil
}
