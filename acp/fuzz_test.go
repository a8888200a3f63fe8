//go:build !windows

package acp

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// Whatever a client sends as content is refused or becomes parts; text that is
// there comes through.
func FuzzPromptPieces(f *testing.F) {
	for _, block := range []string{
		`{"type":"text","text":"hi"}`, `{"type":"image","data":"AAAA","mimeType":"image/png"}`, `{"type":"image","uri":"file:///a#L1"}`,
		`{"type":"resource_link","name":"a","uri":"file:///a%20b?x#L3-9"}`, `{"type":"resource","resource":{"uri":"x:","blob":"gICA"}}`,
		`{"type":"resource","resource":{"uri":"x.png","text":""}}`, `{"type":7}`, `{}`, `null`, `[]`, `"text"`,
	} {
		f.Add([]byte(block))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		if !json.Valid(block) {
			t.Skip("the connection refuses it")
		}
		pieces, err := promptPieces([]json.RawMessage{bytes.TrimSpace(block)})
		if err != nil {
			return
		}
		if text, ok := onlyText(pieces); ok && isBlank(text) != isEmpty(pieces) {
			t.Errorf("%q is blank or not", text)
		}
		slashCommand(pieces)
		for _, part := range newPrompt(pieces).Parts {
			if part.Text == "" && part.ImageURL == "" {
				t.Error("an empty part")
			}
		}
	})
}

// A trace line is valid JSON.
func FuzzElide(f *testing.F) {
	f.Add([]byte(`{"params":{"text":"SECRET","path":"/a"},"n":[1e9,-0,"SECRET",{"x":null}]}`))
	f.Add([]byte(`["SECRET"]`))
	f.Add([]byte(`{"\u0074ext":"SECRET"}`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		elided, err := elide(frame)
		if err != nil {
			return
		}
		if !json.Valid(elided) || !utf8.Valid(elided) {
			t.Errorf("%q became %q", frame, elided)
		}
	})
}
