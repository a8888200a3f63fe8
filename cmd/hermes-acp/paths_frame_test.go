package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsFrame(t *testing.T) {
	for _, test := range []struct {
		name  string
		stdin string
		want  string
		code  int
	}{
		{
			name: "a session", stdin: `{"jsonrpc":"2.0","id":1,"method":"session/new",
				"params":{"cwd":"c:\\w","additionalDirectories":["/srv/"],"mcpServers":[{"name":"b","command":"C:\\b.exe","args":[],"env":[]}]}}`,
			want: "/params/cwd\tautomount-root\tok\t/mnt/c/w\n" +
				"/params/additionalDirectories/0\tlinux-path\tok\t/srv/\n" +
				"/params/mcpServers/0\tmcp-server\tok\t" + `{"name":"b","command":"/mnt/c/b.exe","args":[],"env":[]}` + "\n",
		},
		{
			name: "refused", code: 1,
			stdin: `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","additionalDirectories":["C:w"]}}`,
			want: "/params/cwd\tlinux-path\tok\t/w\n" +
				"/params/additionalDirectories/0\t\terror\tErrDriveRelative\tto-linux \"C:w\": the path is relative to the current directory of a drive: write a backslash after the colon: \"C:\\w\"\n",
		},
		{
			name: "a prompt",
			stdin: `{"id":1,"method":"session/prompt","params":{"prompt":[{"type":"resource_link","uri":"file:///c%3A/a%20b#L1"},
				{"type":"resource_link","uri":"https://example.com"}]}}`,
			want: "/params/prompt/0/uri\tautomount-root\tok\tfile:///mnt/c/a%20b#L1\n" +
				"/params/prompt/1/uri\t\tkept\tErrUnsupportedURI\turi-to-linux \"https://example.com\": the URI names no file of this machine: give a file: URI or a path\n",
		},
		{
			name: "folders of a message before",
			stdin: `{"id":1,"method":"session/new","params":{"cwd":"\\\\wsl$\\Ubuntu\\p"}}
				{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","locations":[{"path":"/p/a"},{"path":"/mnt/c"}]}}}`,
			want: "/params/cwd\tdistro-filesystem\tok\t/p\n" +
				"/params/update/locations/0/path\troot\tok\t\\\\wsl$\\Ubuntu\\p\\a\n" +
				"/params/update/locations/1/path\tautomount-root\tok\tC:\\\n",
		},
		{
			name: "a client of Linux",
			stdin: `{"id":1,"method":"session/new","params":{"cwd":"/p"}}
				{"id":2,"method":"session/load","params":{"cwd":"\\p\\q"}}
				{"id":1,"method":"fs/read_text_file","params":{"path":"/mnt/c"}}`,
			want: "/params/cwd\tlinux-path\tok\t/p\n" +
				"/params/cwd\tlost-slashes\tok\t/p/q\n" +
				"/params/path\tlinux-client\tok\t/mnt/c\n",
		},
		{
			name:  "a result without its request",
			stdin: `{"id":1,"result":{"sessions":[{"cwd":"/mnt/c/w"}]}}`,
			want:  "/result/sessions/0/cwd\tautomount-root\tok\tC:\\w\n",
		},
		{
			name:  "the client's terminals",
			stdin: `{"id":1,"method":"initialize","params":{"clientCapabilities":{"terminal":true}}}`,
			want:  "/params/clientCapabilities/terminal\tclient-terminal\tok\tfalse\n",
		},
		{name: "no fields", stdin: `{"id":1,"method":"session/set_mode","params":{"modeId":"C:\\"}}`},
		{name: "a result without fields", stdin: `{"id":1,"result":{}}`},
		{
			name: "no JSON", stdin: `{"id":1,`, code: 1,
			want: "paths frame: read a JSON-RPC message from stdin: unexpected EOF\n",
		},
		{name: "no message", stdin: `[]`, code: 1, want: "paths frame: read frame: not a JSON object\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, code := runPaths(t, test.stdin, "frame", "--distro", "Ubuntu", "--automount-root", "/mnt/")
			if diff := cmp.Diff(test.want, stdout); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
		})
	}
}
