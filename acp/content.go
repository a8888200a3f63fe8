package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// piece is one content block: what the model sees, or a file that has to be read
// first.
type piece struct {
	isText bool
	parts  []agent.Part
	file   *fileLink
}

// promptPieces decodes a prompt's content blocks.
func promptPieces(blocks []json.RawMessage) ([]piece, error) {
	pieces := make([]piece, len(blocks))
	for i, raw := range blocks {
		var err error
		if pieces[i], err = decodeBlock(raw); err != nil {
			return nil, invalid("prompt block %d: %v", i+1, err)
		}
	}
	return pieces, nil
}

// newPrompt makes a prompt of pieces. Files are read once its turn has come.
func newPrompt(pieces []piece) agent.Prompt {
	var parts []agent.Part
	for _, p := range pieces {
		if p.file != nil {
			return agent.Prompt{Attach: func(ctx context.Context, open agent.OpenAttachment) []agent.Part {
				return readPieces(ctx, pieces, open)
			}}
		}
		parts = append(parts, p.parts...)
	}
	return agent.Prompt{Parts: parts}
}

func readPieces(ctx context.Context, pieces []piece, open agent.OpenAttachment) []agent.Part {
	var parts []agent.Part
	for _, p := range pieces {
		if p.file != nil {
			parts = append(parts, p.file.read(ctx, open)...)
		} else {
			parts = append(parts, p.parts...)
		}
	}
	return parts
}

// onlyText returns the text of a prompt that holds nothing else.
func onlyText(pieces []piece) (text string, ok bool) {
	var texts []string
	for _, p := range pieces {
		if !p.isText {
			return "", false
		}
		for _, part := range p.parts {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n"), true
}

// isEmpty reports whether there is nothing in a prompt to answer.
func isEmpty(pieces []piece) bool {
	for _, piece := range pieces {
		if piece.file != nil {
			return false
		}
		for _, part := range piece.parts {
			if part.ImageURL != "" || !isBlank(part.Text) {
				return false
			}
		}
	}
	return true
}

// decodeBlock decodes one block by its type.
func decodeBlock(raw json.RawMessage) (piece, error) {
	kind, _, err := typeOf(raw)
	if err != nil {
		return piece{}, err
	}
	switch kind {
	case "text":
		return decodeAs(raw, func(b acpsdk.ContentBlockText) piece { return piece{isText: true, parts: textPart(b.Text)} })
	case "image":
		return decodeAs(raw, imagePiece)
	case "resource_link":
		return decodeAs(raw, linkPiece)
	case "resource":
		return embeddedPiece(raw)
	default:
		return piece{}, fmt.Errorf("type %q is not supported (text, image, resource_link and resource are)", kind)
	}
}

func decodeAs[B any](raw json.RawMessage, convert func(B) piece) (piece, error) {
	var b B
	if err := json.Unmarshal(raw, &b); err != nil {
		return piece{}, fieldError(err)
	}
	return convert(b), nil
}

func textPart(text string) []agent.Part {
	if text == "" {
		return nil
	}
	return []agent.Part{{Text: text}}
}

// imagePiece takes the image's data, or its address when it has none.
func imagePiece(b acpsdk.ContentBlockImage) piece {
	switch {
	case strings.HasPrefix(b.Data, "data:"):
		return piece{parts: []agent.Part{{ImageURL: b.Data}}}
	case b.Data != "":
		mimeType := b.MimeType
		if mimeType == "" {
			mimeType = "image/png"
		}
		return piece{parts: []agent.Part{{ImageURL: "data:" + mimeType + ";base64," + b.Data}}}
	case b.Uri == nil || *b.Uri == "":
		return piece{}
	}
	if path, lines, ok := filePath(*b.Uri); ok {
		return piece{file: &fileLink{attachment{name: attachmentName(nil, "", *b.Uri), uri: *b.Uri, mimeType: b.MimeType}, path, lines}}
	}
	return piece{parts: []agent.Part{{ImageURL: *b.Uri}}}
}

func linkPiece(b acpsdk.ContentBlockResourceLink) piece {
	a := attachment{name: attachmentName(b.Title, b.Name, b.Uri), uri: b.Uri}
	if b.MimeType != nil {
		a.mimeType = *b.MimeType
	}
	if path, lines, ok := filePath(b.Uri); ok {
		return piece{file: &fileLink{a, path, lines}}
	}
	return piece{parts: a.text("", "[Only the address is known: resources other than files are not read.]")}
}

// embeddedPiece decodes a resource block, whose content is text or a blob.
func embeddedPiece(raw json.RawMessage) (piece, error) {
	var block struct {
		Resource *struct {
			URI      string  `json:"uri"`
			MimeType string  `json:"mimeType"`
			Text     *string `json:"text"`
			Blob     *string `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(raw, &block); err != nil {
		return piece{}, fieldError(err)
	}
	r := block.Resource
	if r == nil || r.Text == nil && r.Blob == nil {
		return piece{}, errors.New("a resource needs text or blob")
	}
	a := attachment{name: attachmentName(nil, "", r.URI), uri: r.URI, mimeType: r.MimeType}
	if r.Text != nil {
		return piece{parts: a.text("", *r.Text)}, nil
	}
	data, err := base64.StdEncoding.DecodeString(*r.Blob)
	if err != nil {
		data = []byte(*r.Blob) // some clients send the text itself
	}
	return piece{parts: a.parts(data, int64(len(data)))}, nil
}
