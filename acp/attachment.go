package acp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxAttachment is how much of one attached file or embedded resource goes to
// the model, in bytes.
const maxAttachment = 512 << 10

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
	if u, err := url.Parse(uri); err == nil && u.Path != "" && u.Path != "/" {
		return path.Base(u.Path)
	}
	if uri != "" {
		return uri
	}
	return "resource"
}

// uriPath is the path in the attachment's URI.
func (a attachment) uriPath() string {
	if u, err := url.Parse(a.uri); err == nil {
		return u.Path
	}
	return a.uri
}

// text is the attachment as one text part; note may say what is special.
func (a attachment) text(note, body string) []agent.Part {
	if note != "" {
		note = " (" + note + ")"
	}
	return []agent.Part{{Text: fmt.Sprintf("[Attached file: %s]%s\nURI: %s\n\n%s", a.name, note, a.uri, body)}}
}

// parts shows data, the beginning of an attachment of size bytes, to the model.
func (a attachment) parts(data []byte, size int64) []agent.Part {
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

// imageSuffix is the type of an image file by its name, which counts whatever
// type the client says; empty for other files.
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
	return strings.HasPrefix(strings.ToLower(a.mimeType), "image/") || imageSuffix(a.uriPath()) != ""
}

func (a attachment) imageType() string {
	if strings.HasPrefix(strings.ToLower(a.mimeType), "image/") {
		return a.mimeType
	}
	return imageSuffix(a.uriPath())
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
