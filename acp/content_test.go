//go:build !windows

package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// partTexts shows parts as texts, images as their URL.
func partTexts(parts []agent.Part) []string {
	var got []string
	for _, p := range parts {
		got = append(got, p.Text+p.ImageURL)
	}
	return got
}

func TestContentThatNeedsNoFile(t *testing.T) {
	blob := func(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }
	long := strings.Repeat("x", maxAttachment-1) + "€"
	tests := []struct {
		name, block string
		want        []string
	}{
		{"text", `{"type":"text","text":"hi"}`, []string{"hi"}},
		{"empty text", `{"type":"text","text":""}`, nil},
		{"image", `{"type":"image","mimeType":"image/gif","data":"AAAA"}`, []string{"data:image/gif;base64,AAAA"}},
		{"image without a type", `{"type":"image","data":"AAAA"}`, []string{"data:image/png;base64,AAAA"}},
		{"image as a data URL", `{"type":"image","mimeType":"x","data":"data:image/webp;base64,AAAA"}`, []string{"data:image/webp;base64,AAAA"}},
		{"image by address", `{"type":"image","mimeType":"image/png","data":"","uri":"https://x/y.png"}`, []string{"https://x/y.png"}},
		{"image without anything", `{"type":"image","mimeType":"image/png","data":""}`, nil},
		{
			"link to no file", `{"type":"resource_link","name":"Issue 7","uri":"https://x/7"}`,
			[]string{"[Attached file: Issue 7]\nURI: https://x/7\n\n[Only the address is known: resources other than files are not read.]"},
		},
		{
			"link to another host's file", `{"type":"resource_link","name":"a","uri":"file://server/share/a"}`,
			[]string{"[Attached file: a]\nURI: file://server/share/a\n\n[Only the address is known: resources other than files are not read.]"},
		},
		{
			"title and name", `{"type":"resource_link","title":"T","name":"n","uri":"zed:///n"}`,
			[]string{"[Attached file: T (n)]\nURI: zed:///n\n\n[Only the address is known: resources other than files are not read.]"},
		},
		{
			"embedded text", `{"type":"resource","resource":{"uri":"file:///a%20b.go","text":"package a"}}`,
			[]string{"[Attached file: a b.go]\nURI: file:///a%20b.go\n\npackage a"},
		},
		{
			"embedded blob", `{"type":"resource","resource":{"uri":"zed:","blob":"` + blob("\uFEFFtext") + `"}}`,
			[]string{"[Attached file: zed:]\nURI: zed:\n\ntext"},
		},
		{
			"blob that is no base64", `{"type":"resource","resource":{"uri":"","blob":"!text!"}}`,
			[]string{"[Attached file: resource]\nURI: \n\n!text!"},
		},
		{
			"Latin-1 blob", `{"type":"resource","resource":{"uri":"x:/a","blob":"` + blob("caf\xE9") + `"}}`,
			[]string{"[Attached file: a]\nURI: x:/a\n\ncafé"},
		},
		{
			"binary blob", `{"type":"resource","resource":{"uri":"x:/a","blob":"` + blob("a\x00b") + `"}}`,
			[]string{"[Attached file: a]\nURI: x:/a\n\n[Binary file left out: 3 bytes, type unknown.]"},
		},
		{
			"text blob with a NUL", `{"type":"resource","resource":{"uri":"x:/a","mimeType":"Text/Plain; charset=utf-8","blob":"` + blob("a\x00b") + `"}}`,
			[]string{"[Attached file: a]\nURI: x:/a\n\na\x00b"},
		},
		{
			"image blob", `{"type":"resource","resource":{"uri":"x:/a.PNG","blob":"AAAA"}}`,
			[]string{"[Attached image: a.PNG]\nURI: x:/a.PNG", "data:image/png;base64,AAAA"},
		},
		{
			"large image blob", `{"type":"resource","resource":{"uri":"x:/a","mimeType":"image/png","blob":"` + blob(long+"more") + `"}}`,
			[]string{"[Attached file: a]\nURI: x:/a\n\n[The image is too large to show: 524294 bytes, the limit is 524288.]"},
		},
		{
			"long text blob, cut inside a character", `{"type":"resource","resource":{"uri":"x:/a","blob":"` + blob(long) + `"}}`,
			[]string{"[Attached file: a] (truncated to 524288 of 524290 bytes)\nURI: x:/a\n\n" + long[:maxAttachment-1]},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pieces, err := promptPieces([]json.RawMessage{json.RawMessage(tt.block)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, partTexts(newPrompt(pieces).Parts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilePath(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b.go":            "/a/b.go",
		"file:///a%20b.txt":         "/a b.txt",
		"FILE://localhost/a":        "/a",
		"file:/a/b":                 "/a/b",
		"/a/b":                      "/a/b",
		"file:///a#L15":             "/a 15-15",
		"file:///a#L15-21":          "/a 15-21",
		"file:///a#L15-L21":         "/a 15-21",
		"file:///a#L15:21":          "/a 15-21",
		"file:///a?symbol=f#L15:21": "/a 15-21",
		"file:///a#section":         "/a",
		"file:///a#L0":              "/a",
		"file:///a#L9-3":            "/a",
		"file://host/a":             "",
		"https://x/a":               "",
		"untitled:a":                "",
		"a/b":                       "",
		"":                          "",
		"file:///%zz":               "",
	} {
		got := ""
		if path, lines, ok := filePath(uri); ok {
			got = path
			if lines != (lineRange{}) {
				got += fmt.Sprintf(" %d-%d", lines.first, lines.last)
			}
		}
		if got != want {
			t.Errorf("filePath(%q) = %q, want %q", uri, got, want)
		}
	}
}

// attach sends a prompt with one link and returns the text that the model got.
func attach(b *bench, session, uri string) string {
	b.t.Helper()
	b.ok("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":"look"},{"type":"resource_link","name":"it","uri":%q}]}`, session, uri)
	return lastPrompt(b)
}

func lastPrompt(b *bench) string {
	asked := b.script.asked()
	messages := asked[len(asked)-1].Messages
	return messages[len(messages)-1].Text()
}

func TestLinkedFiles(t *testing.T) {
	b := newBench(t)
	for name, content := range map[string]string{
		"a.go": "one\ntwo\nthree\nfour\n", ".env": "KEY=secret", "big.txt": strings.Repeat("x", maxAttachment+10),
		"data.bin": "a\x00b", "dir/inside": "",
	} {
		path := filepath.Join(b.cwd, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	session := b.newSession()
	for name, want := range map[string]string{
		"a.go":      "\n\none\ntwo\nthree\nfour\n",
		"a.go#L2-3": " (lines 2-3)\nURI: file://" + b.cwd + "/a.go#L2-3\n\ntwo\nthree\n",
		"a.go#L4-9": "\n\nfour\n",
		"big.txt":   " (truncated to 524288 of 524298 bytes)\n",
		"data.bin":  "[Binary file left out: 3 bytes, type unknown.]",
		".env":      "[The file could not be attached: it may hold credentials, so it is not shown to the model]",
		"dir":       "[The file could not be attached: it is not a regular file]",
		"missing":   "no such file",
	} {
		got := attach(b, session, "file://"+b.cwd+"/"+name)
		if !strings.Contains(got, "look\n[Attached file: it]") || !strings.Contains(got, want) {
			t.Errorf("%s became %.300q", name, got)
		}
		if strings.Contains(got, "secret") {
			t.Error("the credential was sent to the model")
		}
	}
}

func TestLinkOutsideTheWorkspaceAsksOnce(t *testing.T) {
	for option, want := range map[string]string{"allow_once": "\n\nfrom outside", "deny": "denied by the person"} {
		t.Run(option, func(t *testing.T) {
			b := newBench(t)
			outside := filepath.Join(t.TempDir(), "notes.txt")
			if err := os.WriteFile(outside, []byte("from outside"), 0o600); err != nil {
				t.Fatal(err)
			}
			session := b.newSession()
			id := b.request("session/prompt", `{"sessionId":%q,"prompt":[{"type":"resource_link","name":"it","uri":%q}]}`, session, "file://"+outside)
			read := b.until(isPermission)
			if got := fmt.Sprint(read[len(read)-1].Params.ToolCall["locations"]); !strings.Contains(got, outside) {
				t.Errorf("it asks about %s", got)
			}
			b.answer(read[len(read)-1], option)
			read = b.until(responseTo(id))
			if asked := len(find(read, "tool_call", "")); asked != 0 {
				t.Errorf("it asked again")
			}
			if got := lastPrompt(b); !strings.Contains(got, want) {
				t.Errorf("the model got %q, want %q", got, want)
			}
		})
	}
}
