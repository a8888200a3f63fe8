package tools

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewFilesFollowTheProjectsStyle(t *testing.T) {
	for _, tc := range []struct {
		name          string
		config        map[string]string
		file          string
		content, want string
	}{
		{name: "no configuration", file: "a.txt", content: "a\nb", want: "a\nb"},
		{
			name: "CRLF and final newline", config: map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = crlf\ninsert_final_newline = true\n"},
			file: "a.txt", content: "a\nb", want: "a\r\nb\r\n",
		},
		{name: "LF", config: map[string]string{".editorconfig": "root=true\n[*.sh]\nEnd_Of_Line=LF\n"}, file: "sub/a.sh", content: "a\r\n", want: "a\n"},
		{name: "another section", config: map[string]string{".editorconfig": "root=true\n[*.{js,ts}]\nend_of_line=crlf\n"}, file: "a.go", content: "a\n", want: "a\n"},
		{name: "one of a section's names", config: map[string]string{".editorconfig": "root=true\n[*.{js,ts}]\nend_of_line=crlf\n"}, file: "a.ts", content: "a\n", want: "a\r\n"},
		{name: "the nearer file", config: map[string]string{".editorconfig": "root=true\n[*]\nend_of_line=crlf\n", "sub/.editorconfig": "[*]\nend_of_line=lf\n"}, file: "sub/a", content: "a\n", want: "a\n"},
		{name: "a path", config: map[string]string{".editorconfig": "root=true\n[/win/**.txt]\nend_of_line=crlf\n"}, file: "win/a.txt", content: "a\n", want: "a\r\n"},
		{name: "byte-order mark", config: map[string]string{".editorconfig": "root=true\n[*]\ncharset=utf-8-bom\n"}, file: "a", content: "a\n", want: "\xef\xbb\xbfa\n"},
		{name: "UTF-16", config: map[string]string{".editorconfig": "root=true\n[*]\ncharset=utf-16le\n"}, file: "a", content: "a", want: "\xff\xfea\x00"},
		{name: "Latin-1", config: map[string]string{".editorconfig": "root=true\n[*]\ncharset=latin1\n"}, file: "a", content: "é", want: "\xe9"},
		{name: "Git attributes", config: map[string]string{".git/HEAD": "", ".gitattributes": "*.bat text eol=crlf\n", ".editorconfig": "root=true\n"}, file: "sub/a.bat", content: "a\n", want: "a\r\n"},
		{name: "Git attributes of a nearer file", config: map[string]string{".git/HEAD": "", ".gitattributes": "* eol=crlf\n", "sub/.gitattributes": "/a eol=lf\n", ".editorconfig": "root=true\n"}, file: "sub/a", content: "a\n", want: "a\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			for name, content := range tc.config {
				b.write(t, name, content)
			}
			if _, err := b.call(t, "write_file", args{"path": tc.file, "content": tc.content}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.read(t, tc.file)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestExistingAndMovedFilesKeepTheirOwnStyle(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, ".editorconfig", "root=true\n[*]\nend_of_line=crlf\ninsert_final_newline=true\n")
	b.write(t, "old", "a\nb")
	if _, err := b.call(t, "write_file", args{"path": "old", "content": "a\nc"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(t, "patch", v4a("*** Move File: old -> moved")); err != nil {
		t.Fatal(err)
	}
	if got := b.read(t, "moved"); got != "a\nc" {
		t.Errorf("%q", got)
	}
}
