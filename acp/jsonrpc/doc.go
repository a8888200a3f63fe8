// Package jsonrpc is a symmetrical JSON-RPC 2.0 connection over newline-delimited
// JSON, as the Agent Client Protocol uses it on stdio. Agent and client sides
// use the same Conn.
//
// What it promises:
//
//   - One reader. The Handler is called for each request and notification in the
//     order of arrival, before the next line is looked at. What has to act in
//     that order acts there; the rest goes into the Responder it returns, which
//     runs in a goroutine of its own.
//   - One writer. Frames are written in the order in which they were enqueued.
//     NotifyPaced takes credit and blocks its caller while the peer reads too
//     slowly; responses, calls and plain notifications never wait.
//   - Bounded memory. The reader pauses at MaxUnanswered requests whose response
//     is not yet written, a line is at most MaxLine bytes, and paced
//     notifications hold at most Credit bytes.
//   - Every request gets exactly one response, through panics and bad lines too.
//
// Ids are never decoded: they are echoed byte for byte.
package jsonrpc
