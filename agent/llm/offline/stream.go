package offline

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is what the model says: a text, a tool call, or both.
type answer struct {
	text  string
	call  *call
	usage object
}

// call is a tool call.
type call struct {
	tool      string
	arguments string // JSON
}

func (a answer) finishReason() string {
	if a.call != nil {
		return "tool_calls"
	}
	return "stop"
}

// whole is the answer to a request that wants no stream.
func (a answer) whole() object {
	message := object{"role": "assistant", "content": a.text}
	if a.call != nil {
		message["tool_calls"] = []object{{
			"id": newCallID(), "type": "function", "function": object{"name": a.call.tool, "arguments": a.call.arguments},
		}}
	}
	return object{
		"object": "chat.completion", "model": ModelID, "usage": a.usage,
		"choices": []object{{"index": 0, "message": message, "finish_reason": a.finishReason()}},
	}
}

// stream writes an answer as events, piece by piece with a pause between.
func stream(ctx context.Context, w http.ResponseWriter, a answer, pause time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	id := "offline-" + rand.Text()
	send := func(chunk object) {
		chunk["id"], chunk["object"], chunk["created"], chunk["model"] = id, "chat.completion.chunk", time.Now().Unix(), ModelID
		data, err := json.Marshal(chunk)
		if err != nil {
			panic(err) // made of strings and numbers only
		}
		_, _ = io.WriteString(w, "data: "+string(data)+"\n\n") // the client may be gone
		_ = http.NewResponseController(w).Flush()
	}
	delta := func(d object, finish any) {
		send(object{"choices": []object{{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	deltas := []object{{"role": "assistant", "content": ""}}
	for _, piece := range pieces(a.text) {
		deltas = append(deltas, object{"content": piece})
	}
	if a.call != nil {
		deltas = append(deltas, callDeltas(*a.call)...)
	}
	for _, d := range deltas {
		delta(d, nil)
		if !sleep(ctx, pause) {
			return
		}
	}
	delta(object{}, a.finishReason())
	send(object{"choices": []object{}, "usage": a.usage})
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func callDeltas(c call) []object {
	deltas := []object{{"tool_calls": []object{{
		"index": 0, "id": newCallID(), "type": "function", "function": object{"name": c.tool, "arguments": ""},
	}}}}
	for _, piece := range pieces(c.arguments) {
		deltas = append(deltas, object{"tool_calls": []object{{"index": 0, "function": object{"arguments": piece}}}})
	}
	return deltas
}

func newCallID() string { return "call_" + rand.Text() }

// pieces cuts a text behind its blanks, into pieces of about three words.
func pieces(text string) []string {
	var out []string
	var piece strings.Builder
	for i, word := range strings.SplitAfter(text, " ") {
		piece.WriteString(word)
		if i%3 == 2 {
			out = append(out, piece.String())
			piece.Reset()
		}
	}
	if piece.Len() > 0 {
		out = append(out, piece.String())
	}
	return out
}

// sleep returns false when the client went away meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
