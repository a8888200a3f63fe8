package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the far end of a connection under test, as raw lines.
type peer struct {
	t    *testing.T
	in   *io.PipeWriter // what the connection reads
	out  *bufio.Reader  // what the connection writes
	pipe *io.PipeReader
	done chan error
	conn *Conn
}

func dial(t *testing.T, opts Options, h func(*Conn) Handler) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: bufio.NewReader(outR), pipe: outR, done: make(chan error, 1)}
	p.conn = New(inR, outW, opts)
	go func() {
		p.done <- p.conn.Serve(t.Context(), h(p.conn))
		_ = inR.Close()
		_ = outW.Close()
	}()
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) expect(want ...string) {
	p.t.Helper()
	for _, w := range want {
		got, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("read: %v, want %s", err, w)
		}
		if diff := cmp.Diff(w, strings.TrimSuffix(got, "\n")); diff != "" {
			p.t.Fatalf("frame (-want +got):\n%s", diff)
		}
	}
}

// close ends the input and returns what Serve returned and what was still written.
func (p *peer) close() (rest string, err error) {
	_ = p.in.Close()
	b, _ := io.ReadAll(p.out)
	return string(b), <-p.done
}

func (p *peer) closeClean() {
	p.t.Helper()
	if rest, err := p.close(); rest != "" || err != nil {
		p.t.Fatalf("at the end: %v, unexpected output %q", err, rest)
	}
}

// echo answers with the method's name and its parameters.
func echo(*Conn) Handler {
	return func(_ context.Context, req *Request) Responder {
		return func(context.Context) (any, error) {
			return map[string]any{"method": req.Method, "params": req.Params}, nil
		}
	}
}

func TestOneLine(t *testing.T) {
	ok := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"method":"m","params":{}}}` }
	refused := func(id string, code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	const notObject = "a message must be one JSON object (batches are not supported)"
	tests := []struct{ name, line, want string }{
		{"number id", `{"jsonrpc":"2.0","id":7,"method":"m"}`, ok("7")},
		{"string id", `{"jsonrpc":"2.0","id":"a-1","method":"m"}`, ok(`"a-1"`)},
		{"escaped id", `{"jsonrpc":"2.0","id":"\u0041<&>","method":"m"}`, ok(`"\u0041<&>"`)},
		{"float id", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, ok("1.0")},
		{"big id", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"}`, ok("12345678901234567890")},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, ok("null")},
		{"any key order", `{"params":{},"method":"m","id":1,"jsonrpc":"2.0","future":true}`, ok("1")},
		{"no version", `{"id":1,"method":"m"}`, ok("1")},
		{"CRLF", `{"jsonrpc":"2.0","id":1,"method":"m"}` + "\r", ok("1")},
		{"BOM", "\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, ok("1")},
		{"blank lines before", "\n \r\n\t\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, ok("1")},
		{
			"invalid UTF-8", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"` + "\xb0" + `"}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":{"a":"` + "\uFFFD" + `"}}}`,
		},
		{"P36 a number", `1`, refused("null", CodeInvalidRequest, notObject)},
		{"P36 a string", `"x"`, refused("null", CodeInvalidRequest, notObject)},
		{"P36 null", `null`, refused("null", CodeInvalidRequest, notObject)},
		{"P36 empty batch", `[]`, refused("null", CodeInvalidRequest, notObject)},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, refused("null", CodeInvalidRequest, notObject)},
		{
			"P36 params null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`,
			refused("1", CodeInvalidParams, "params of m must be an object"),
		},
		{
			"params an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`,
			refused("1", CodeInvalidParams, "params of m must be an object"),
		},
		{"not JSON", `{"jsonrpc":`, refused("null", CodeParseError, "not valid JSON: unexpected end of JSON input")},
		{
			"id an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`,
			refused("null", CodeInvalidRequest, "id must be a string, a number or null"),
		},
		{
			"method a number", `{"jsonrpc":"2.0","id":3,"method":1}`,
			refused("3", CodeInvalidRequest, "method must be a string"),
		},
		{
			"neither request nor response", `{"jsonrpc":"2.0","id":3}`,
			refused("3", CodeInvalidRequest, "method must be a string"),
		},
		{
			"other version", `{"jsonrpc":"1.0","id":3,"method":"m"}`,
			refused("3", CodeInvalidRequest, `jsonrpc must be "2.0"`),
		},
		{"unknown response", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
		{"unknown cancel", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, ""},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, Options{}, echo)
			p.send(tt.line)
			if tt.want != "" {
				p.expect(tt.want)
			}
			p.closeClean()
		})
	}
}

func TestLastLineWithoutNewline(t *testing.T) {
	p := dial(t, Options{}, echo)
	if _, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"m"}`); err != nil {
		t.Fatal(err)
	}
	rest, err := p.close()
	if want := `{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":{}}}` + "\n"; rest != want || err != nil {
		t.Fatalf("got %q, %v", rest, err)
	}
}

func TestP28_LineOverTheLimitIsRefusedAndTheNextIsRead(t *testing.T) {
	const limit = 100_000
	for _, tt := range []struct {
		name   string
		length int
		want   string
	}{
		{"at the limit", limit, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"one over", limit + 1, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"line longer than 100000 bytes"}}`},
		{"far over", 5 * limit, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"line longer than 100000 bytes"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, Options{MaxLine: limit}, func(*Conn) Handler {
				return func(context.Context, *Request) Responder {
					return func(context.Context) (any, error) { return struct{}{}, nil }
				}
			})
			frame := func(pad int) string {
				return `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"` + strings.Repeat("x", pad) + `"}}`
			}
			p.send(frame(tt.length - len(frame(0))))
			p.expect(tt.want)
			p.send(frame(0))
			p.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			p.closeClean()
		})
	}
}

func TestHandlerSeesMessagesInOrder(t *testing.T) {
	var seen []string
	p := dial(t, Options{}, func(*Conn) Handler {
		return func(_ context.Context, req *Request) Responder {
			seen = append(seen, req.Method)
			return nil
		}
	})
	var want []string
	for i := range 200 {
		method := fmt.Sprint("m", i)
		want = append(want, method)
		p.send(`{"jsonrpc":"2.0","method":"` + method + `"}`)
	}
	p.closeClean()
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestPanicIsOneInternalErrorAndAStackInTheLog(t *testing.T) {
	handlers := map[string]Handler{
		"routing": func(context.Context, *Request) Responder { panic("kaboom") },
		"serving": func(context.Context, *Request) Responder {
			return func(context.Context) (any, error) { panic("kaboom") }
		},
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p := dial(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(*Conn) Handler { return h })
			p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			p.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error in m; its stack is in the log"}}`)
			p.send(`{"jsonrpc":"2.0","method":"$/cancel_request"}`)
			p.closeClean()
			if !strings.Contains(log.String(), "kaboom") || !strings.Contains(log.String(), "conn_test.go") {
				t.Errorf("log lacks the panic or its stack: %s", log.String())
			}
		})
	}
}

func TestCancelRequestEndsThatRequestOnly(t *testing.T) {
	p := dial(t, Options{}, func(*Conn) Handler {
		return func(_ context.Context, req *Request) Responder {
			return func(ctx context.Context) (any, error) {
				if req.Method == "quick" {
					return "done", nil
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}
	})
	p.send(
		`{"jsonrpc":"2.0","id":"\u0061","method":"slow"}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`,
	)
	p.expect(`{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32800,"message":"request cancelled"}}`)
	p.send(`{"jsonrpc":"2.0","id":"a","method":"quick"}`)
	p.expect(`{"jsonrpc":"2.0","id":"a","result":"done"}`)
	p.closeClean()
}

func TestResponseFollowsItsUpdatesAndPrecedesAfterResponse(t *testing.T) {
	p := dial(t, Options{}, func(c *Conn) Handler {
		return func(_ context.Context, req *Request) Responder {
			return func(ctx context.Context) (any, error) {
				for i := range 3 {
					if err := c.NotifyPaced(ctx, "update", i); err != nil {
						return nil, err
					}
				}
				req.AfterResponse = func() { _ = c.Notify("after", nil) }
				return "done", nil
			}
		}
	})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(
		`{"jsonrpc":"2.0","method":"update","params":0}`,
		`{"jsonrpc":"2.0","method":"update","params":1}`,
		`{"jsonrpc":"2.0","method":"update","params":2}`,
		`{"jsonrpc":"2.0","id":1,"result":"done"}`,
		`{"jsonrpc":"2.0","method":"after","params":null}`,
	)
	p.closeClean()
}

func TestAfterResponseFollowsAnErrorToo(t *testing.T) {
	p := dial(t, Options{}, func(c *Conn) Handler {
		return func(_ context.Context, req *Request) Responder {
			return func(context.Context) (any, error) {
				req.AfterResponse = func() { _ = c.Notify("after", nil) }
				return nil, fmt.Errorf("open: %w", Errorf(-32002, "no such session"))
			}
		}
	})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no such session"}}`,
		`{"jsonrpc":"2.0","method":"after","params":null}`,
	)
	p.closeClean()
}

// call runs one Call on the connection and returns a channel with its error.
func (p *peer) call(ctx context.Context, result any) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.conn.Call(ctx, "ask", struct{}{}, result) }()
	return done
}

func TestCall(t *testing.T) {
	t.Run("result", func(t *testing.T) {
		p := dial(t, Options{}, echo)
		var got struct{ A int }
		done := p.call(t.Context(), &got)
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"result":{"a":5}}`)
		if err := <-done; err != nil || got.A != 5 {
			t.Errorf("got %v, %v", got, err)
		}
		p.closeClean()
	})
	t.Run("error", func(t *testing.T) {
		p := dial(t, Options{}, echo)
		done := p.call(t.Context(), nil)
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}`)
		var e *Error
		if err := <-done; !errors.As(err, &e) || e.Code != CodeMethodNotFound {
			t.Errorf("got %v", err)
		}
		p.closeClean()
	})
	t.Run("cancelled, answered late", func(t *testing.T) {
		p := dial(t, Options{}, echo)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("turn cancelled")
		done := p.call(ctx, nil)
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
		cancel(cause)
		if err := <-done; !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		p.closeClean()
	})
	t.Run("connection ends", func(t *testing.T) {
		p := dial(t, Options{}, echo)
		done := p.call(t.Context(), nil)
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
		p.closeClean()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := p.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestClientThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const credit, updates = 1000, 200
		sent := 0
		p := dial(t, Options{Credit: credit}, func(c *Conn) Handler {
			return func(_ context.Context, req *Request) Responder {
				return func(ctx context.Context) (any, error) {
					for i := range updates {
						if req.Method == "quick" {
							break
						}
						if err := c.NotifyPaced(ctx, "update", i); err != nil {
							return nil, err
						}
						sent++
					}
					return "done", nil
				}
			}
		})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"stream"}`)
		synctest.Wait()
		if sent == 0 || sent > credit/len(`{"jsonrpc":"2.0","method":"update","params":0}`) {
			t.Fatalf("%d updates enqueued for a client that does not read", sent)
		}
		p.send(`{"jsonrpc":"2.0","id":2,"method":"quick"}`)
		synctest.Wait() // its response is enqueued without credit

		for i := range updates {
			line, err := p.out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, `"id":2`) {
				line, _ = p.out.ReadString('\n')
			}
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"update","params":%d}`+"\n", i); line != want {
				t.Fatalf("got %s, want %s", line, want)
			}
		}
		p.expect(`{"jsonrpc":"2.0","id":1,"result":"done"}`)
		p.closeClean()
	})
}

func TestReaderPausesAtMaxUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routed := 0
		release := make(chan struct{})
		p := dial(t, Options{MaxUnanswered: 3}, func(*Conn) Handler {
			return func(context.Context, *Request) Responder {
				routed++
				return func(context.Context) (any, error) {
					<-release
					return "done", nil
				}
			}
		})
		go func() {
			for i := range 5 {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
			}
		}()
		synctest.Wait()
		if routed != 3 {
			t.Errorf("%d requests routed, want 3", routed)
		}
		close(release)
		for range 5 {
			if _, err := p.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		p.closeClean()
	})
}

func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, Options{Drain: time.Minute}, func(c *Conn) Handler {
			return func(_ context.Context, req *Request) Responder {
				return func(ctx context.Context) (any, error) {
					switch req.Method {
					case "soon":
						time.Sleep(time.Second)
						return "done", nil
					case "ask":
						return nil, c.Call(ctx, "ask", nil, nil)
					default:
						<-ctx.Done()
						return nil, context.Cause(ctx)
					}
				}
			}
		})
		p.send(
			`{"jsonrpc":"2.0","id":1,"method":"soon"}`,
			`{"jsonrpc":"2.0","id":2,"method":"never"}`,
		)
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","id":3,"method":"ask"}`)
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask","params":null}`)
		rest, err := p.close()
		if err != nil {
			t.Error(err)
		}
		want := `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"call ask: connection closed"}}
{"jsonrpc":"2.0","id":1,"result":"done"}
{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"connection closed"}}
`
		if diff := cmp.Diff(want, rest); diff != "" {
			t.Errorf("after the end of the input (-want +got):\n%s", diff)
		}
	})
}

func TestServeEndsWhen(t *testing.T) {
	stream := func(c *Conn) Handler {
		return func(context.Context, *Request) Responder {
			return func(ctx context.Context) (any, error) {
				for c.NotifyPaced(context.WithoutCancel(ctx), "update", "x") == nil {
				}
				return "done", nil
			}
		}
	}
	t.Run("nobody reads its output any more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := dial(t, Options{Credit: 1000}, stream)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			synctest.Wait()
			_ = p.pipe.Close()
			if err := <-p.done; !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("the peer closed its side and reads no more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := dial(t, Options{Credit: 1000}, stream)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			synctest.Wait()
			_ = p.in.Close()
			if err := <-p.done; err == nil {
				t.Error("no error although output was lost")
			}
		})
	})
	t.Run("its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			inR, inW := io.Pipe()
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() { done <- New(inR, io.Discard, Options{}).Serve(ctx, echo(nil)) }()
			cause := errors.New("SIGTERM")
			cancel(cause)
			if err := <-done; !errors.Is(err, cause) {
				t.Errorf("got %v", err)
			}
			_ = inW.Close()
		})
	})
}

func TestTraceSeesBothDirections(t *testing.T) {
	var in, out []string
	p := dial(t, Options{Trace: func(dir Direction, frame []byte) {
		if dir == Inbound {
			in = append(in, string(frame))
		} else {
			out = append(out, string(frame))
		}
	}}, echo)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	answer := `{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":{}}}`
	p.expect(answer)
	p.closeClean()
	if diff := cmp.Diff([]string{`{"jsonrpc":"2.0","id":1,"method":"m"}`}, in); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{answer + "\n"}, out); diff != "" {
		t.Error(diff)
	}
}

// Whatever comes in, what goes out is one valid JSON object a line.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}` + "\n"))
	f.Add([]byte("[]\n{\"id\":\"\xff\",\"method\":\"\\ud800\"}\n{\n\n\"x\""))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		conn := New(bytes.NewReader(input), &out, Options{MaxLine: 1000})
		if err := conn.Serve(t.Context(), echo(conn)); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var answer map[string]json.RawMessage
			if err := json.Unmarshal(line, &answer); err != nil || !utf8.Valid(line) || answer["id"] == nil {
				t.Errorf("bad line %q: %v", line, err)
			}
		}
	})
}

// One op is one 4-byte text chunk, encoded, enqueued and written to a pipe that
// is read.
func BenchmarkNotifyPaced(b *testing.B) {
	inR, inW := io.Pipe()
	conn := New(inR, io.Discard, Options{})
	done := make(chan error, 1)
	go func() { done <- conn.Serve(b.Context(), echo(conn)) }()
	params := map[string]any{"sessionId": "0b6fd6a5", "update": map[string]any{
		"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": "word"},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.NotifyPaced(b.Context(), "session/update", params); err != nil {
			b.Fatal(err)
		}
	}
	_ = inW.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
