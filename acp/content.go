package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxAttachment is how much of one attached file or embedded resource goes to
// the model, in bytes.
const maxAttachment = 512 << 10

// promptParts turns a prompt's content blocks into what the model sees. Blocks
// without content are left out.
func promptParts(blocks []json.RawMessage) ([]agent.Part, error) {
	var parts []agent.Part
	for i, raw := range blocks {
		converted, err := blockParts(raw)
		if err != nil {
			return nil, invalid("prompt block %d: %v", i+1, err)
		}
		parts = append(parts, converted...)
	}
	return parts, nil
}

// blockParts decodes one block by its type; the SDK's union would take an
// unknown type for empty text.
func blockParts(raw json.RawMessage) ([]agent.Part, error) {
	kind, _, err := discriminator(raw, "type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text":
		return decodeBlock(raw, func(b acpsdk.ContentBlockText) []agent.Part { return textPart(b.Text) })
	case "image":
		return decodeBlock(raw, imageParts)
	case "resource_link":
		return decodeBlock(raw, linkParts)
	case "resource":
		return embeddedParts(raw)
	default:
		return nil, fmt.Errorf("type %q is not supported (text, image, resource_link and resource are)", kind)
	}
}

func decodeBlock[B any](raw json.RawMessage, parts func(B) []agent.Part) ([]agent.Part, error) {
	var b B
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fieldError(err)
	}
	return parts(b), nil
}

// blank reports whether there is nothing in parts to answer.
func blank(parts []agent.Part) bool {
	for _, p := range parts {
		if p.ImageURL != "" || !isBlank(p.Text) {
			return false
		}
	}
	return true
}

func textPart(text string) []agent.Part {
	if text == "" {
		return nil
	}
	return []agent.Part{{Text: text}}
}

// imageParts takes the image's data, or its address when it has none.
func imageParts(b acpsdk.ContentBlockImage) []agent.Part {
	switch {
	case strings.HasPrefix(b.Data, "data:"):
		return []agent.Part{{ImageURL: b.Data}}
	case b.Data != "":
		mimeType := b.MimeType
		if mimeType == "" {
			mimeType = "image/png"
		}
		return []agent.Part{{ImageURL: "data:" + mimeType + ";base64," + b.Data}}
	case b.Uri != nil && *b.Uri != "":
		return []agent.Part{{ImageURL: *b.Uri}}
	default:
		return nil
	}
}

func linkParts(b acpsdk.ContentBlockResourceLink) []agent.Part {
	a := attachment{name: attachmentName(b.Title, b.Name, b.Uri), uri: b.Uri}
	if !strings.HasPrefix(strings.ToLower(b.Uri), "file:") && !strings.HasPrefix(b.Uri, "/") {
		return a.text("", "[Only the address is known: resources other than files are not read.]")
	}
	return a.text("", "[The content is not included; read the file if it matters.]")
}

// embeddedParts decodes a resource block, whose content is text or a blob.
func embeddedParts(raw json.RawMessage) ([]agent.Part, error) {
	var block struct {
		Resource *struct {
			URI      string  `json:"uri"`
			MimeType string  `json:"mimeType"`
			Text     *string `json:"text"`
			Blob     *string `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(raw, &block); err != nil {
		return nil, fieldError(err)
	}
	r := block.Resource
	if r == nil || r.Text == nil && r.Blob == nil {
		return nil, errors.New("a resource needs text or blob")
	}
	a := attachment{name: attachmentName(nil, "", r.URI), uri: r.URI, mimeType: r.MimeType}
	if r.Text != nil {
		return a.text("", *r.Text), nil
	}
	data, err := base64.StdEncoding.DecodeString(*r.Blob)
	if err != nil {
		data = []byte(*r.Blob) // some clients send the text itself
	}
	return a.parts(data, len(data)), nil
}

// attachment is a file or resource that the person gave along with the prompt.
type attachment struct {
	name, uri, mimeType string
}

// attachmentName is what the model reads as the attachment's name.
func attachmentName(title *string, name, uri string) string {
	if title != nil && *title != "" {
		if name != "" && name != *title {
			return *title + " (" + name + ")"
		}
		return *title
	}
	if name != "" {
		return name
	}
	if u, err := url.Parse(uri); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path)
	}
	if uri != "" {
		return uri
	}
	return "resource"
}

// text is the attachment as one text part; note may say what is special.
func (a attachment) text(note, body string) []agent.Part {
	if note != "" {
		note = " (" + note + ")"
	}
	return []agent.Part{{Text: fmt.Sprintf("[Attached file: %s]%s\nURI: %s\n\n%s", a.name, note, a.uri, body)}}
}

// parts shows data, the beginning of an attachment of size bytes, to the model.
func (a attachment) parts(data []byte, size int) []agent.Part {
	if a.isImage() {
		if size > maxAttachment {
			return a.text("", fmt.Sprintf("[The image is too large to show: %d bytes, the limit is %d.]", size, maxAttachment))
		}
		head := fmt.Sprintf("[Attached image: %s]\nURI: %s", a.name, a.uri)
		return []agent.Part{{Text: head}, {ImageURL: "data:" + a.imageType() + ";base64," + base64.StdEncoding.EncodeToString(data)}}
	}
	if bytes.IndexByte(data, 0) >= 0 && !textual(a.mimeType) {
		mimeType := a.mimeType
		if mimeType == "" {
			mimeType = "unknown"
		}
		return a.text("", fmt.Sprintf("[Binary file left out: %d bytes, type %s.]", size, mimeType))
	}
	note := ""
	if size > maxAttachment {
		note = fmt.Sprintf("truncated to %d of %d bytes", maxAttachment, size)
		data = data[:min(len(data), maxAttachment)]
	}
	return a.text(note, decodeText(data, note != ""))
}

// imageSuffixes are the image files that are shown whatever type the client
// says they have.
func imageSuffix(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".png", ".gif", ".webp", ".bmp":
		return "image/" + ext[1:]
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".svg":
		return "image/svg+xml"
	default:
		return ""
	}
}

func (a attachment) isImage() bool {
	return strings.HasPrefix(strings.ToLower(a.mimeType), "image/") || imageSuffix(a.uri) != ""
}

func (a attachment) imageType() string {
	if strings.HasPrefix(strings.ToLower(a.mimeType), "image/") {
		return a.mimeType
	}
	return imageSuffix(a.uri)
}

// textual reports whether a type means text even when a NUL byte is in it.
func textual(mimeType string) bool {
	t, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return false
	}
	switch t {
	case "application/json", "application/javascript", "application/typescript", "application/xml",
		"application/x-yaml", "application/yaml", "application/toml", "application/sql":
		return true
	}
	return strings.HasPrefix(t, "text/")
}

// decodeText reads UTF-8, or Latin-1 when it is not. A cut may have split the
// last character, which is dropped then.
func decodeText(data []byte, cut bool) string {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if cut {
		for i := 0; i < utf8.UTFMax-1 && len(data) > 0; i++ {
			if r, size := utf8.DecodeLastRune(data); r != utf8.RuneError || size != 1 {
				break
			}
			data = data[:len(data)-1]
		}
	}
	if utf8.Valid(data) {
		return string(data)
	}
	latin := make([]rune, len(data))
	for i, b := range data {
		latin[i] = rune(b)
	}
	return string(latin)
}
