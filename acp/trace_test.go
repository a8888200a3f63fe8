//go:build !windows

package acp

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

func TestTraceKeepsNoText(t *testing.T) {
	var out bytes.Buffer
	trace := NewTrace(&out, func() time.Time { return time.Unix(1_700_000_000, 0) })
	trace(jsonrpc.Inbound, []byte(`{"id":12345678901234567890,"method":"session/prompt","params":{"sessionId":"S","prompt":[`+
		`{"type":"text","text":"my secret"},{"type":"resource_link","uri":"file:///a/b","name":"b"}],"_meta":{"k":[true,null,1.50,"€"]}}}`))
	trace(jsonrpc.Outbound, []byte(`{"params":{"update":{"content":[{"type":"diff","path":"/a/b","oldText":"","newText":"x"}],"locations":[{"path":"/a/b","line":3}]}}}`+"\n"))
	trace(jsonrpc.Inbound, []byte(`{"text":"my secr`))
	const at = `{"time":"2023-11-14T22:13:20Z",`
	want := at + `"dir":"in","frame":{"id":12345678901234567890,"method":"session/prompt","params":{"sessionId":"S","prompt":[` +
		`{"type":"text","text":"9 characters"},{"type":"resource_link","uri":"file:///a/b","name":"1 characters"}],"_meta":{"k":[true,null,1.50,"1 characters"]}}}}` + "\n" +
		at + `"dir":"out","frame":{"params":{"update":{"content":[{"type":"diff","path":"/a/b","oldText":"0 characters","newText":"1 characters"}],"locations":[{"path":"/a/b","line":3}]}}}}` + "\n" +
		at + `"dir":"in","frame":"16 bytes that are not JSON"}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
