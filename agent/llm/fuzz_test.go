package llm_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/llm"
)

// bodyOf answers every request with what a reader gives.
type bodyOf func() io.Reader

func (f bodyOf) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(f())}, nil
}

// FuzzStream holds that whatever a provider sends ends in a completion or an
// error of this package, that the pieces shown are the text kept, and that it
// does not matter how the network cuts the bytes.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		okStream,
		": hi\n\ndata: : hi\n\ndata:\n\n" + okStream,
		"event: error\ndata: {\"message\":\"m\"}\n\n",
		"data: {\"choices\":\ndata: []}\n\n" + okStream,
		`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]},"finish_reason":"x"}]}`,
		`{"choices":[{"message":{"content":[{"text":"a"}]},"finish_reason":"stop"}]}`,
		`{"error":[{"message":1}]}`, "<html>", "\ufeff\r\n \r\n", `data: {"choices":null,"usage":{"cost":1e300}}` + "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Count(body, "\n") > 200 {
			t.Skip("slow byte by byte")
		}
		ask := func(reader func() io.Reader) (agent.Completion, string, error) {
			var s shown
			// A first delta keeps a cut from being tried again, which waits.
			first := strings.NewReader(`data: {"choices":[{"delta":{"content":"first "}}]}` + "\n\n")
			got, err := fakeClient(t, bodyOf(func() io.Reader { return io.MultiReader(first, reader()) })).Stream(t.Context(), hi(), s.emit)
			return got, s.text, err
		}
		got, text, err := ask(func() io.Reader { return strings.NewReader(body) })
		if _, ok := errors.AsType[*llm.Error](err); err != nil && !ok {
			t.Errorf("error %T %v", err, err)
		}
		if text != got.Message.Text() {
			t.Errorf("shown %q, kept %q", text, got.Message.Text())
		}
		slow, _, slowErr := ask(func() io.Reader { return iotest.OneByteReader(strings.NewReader(body)) })
		if diff := cmp.Diff(got, slow); diff != "" || (err == nil) != (slowErr == nil) {
			t.Errorf("byte by byte: error %v, not %v; completion (-whole +slow):\n%s", slowErr, err, diff)
		}
	})
}
