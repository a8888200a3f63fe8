package wslbridge

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/testdata/frames"
)

// fieldRow is a row of testdata/frames/fields.tsv.
type fieldRow struct {
	method, direction, pointer, kind, when string
}

// TestFieldTable holds the table of fields against the protocol's.
func TestFieldTable(t *testing.T) {
	var want []fieldRow
	servers := map[string]bool{} // methods that start MCP servers
	for _, row := range readFieldRows(t) {
		switch {
		case row.kind == "path" || row.kind == "uri":
			want = append(want, row)
		case strings.HasPrefix(row.pointer, "/params/mcpServers/*/") && row.kind == "command":
			servers[row.method] = true
		}
	}
	for method := range servers {
		want = append(want, fieldRow{method, "client->agent", "/params/mcpServers/*", "mcp server", ""})
	}
	want = append(want,
		fieldRow{"initialize", "client->agent", "/params/clientCapabilities/terminal", "terminal capability", ""},
		fieldRow{"initialize", "agent->client", "/result/authMethods/*", "auth method", ""},
	)
	got := slices.Concat(
		rowsOf("client->agent", "/params", clientParams),
		rowsOf("agent->client", "/params", agentParams),
		rowsOf("agent->client", "/result", agentResults),
	)
	byAll := func(a, b fieldRow) int {
		return strings.Compare(strings.Join([]string{a.method, a.direction, a.pointer, a.when}, " "),
			strings.Join([]string{b.method, b.direction, b.pointer, b.when}, " "))
	}
	slices.SortFunc(want, byAll)
	slices.SortFunc(got, byAll)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fieldRow{})); diff != "" {
		t.Errorf("fields (-protocol +table):\n%s", diff)
	}
}

// TestAgentKeys checks that every field that the agent sends has a key by which frames with fields are
// found. Results are found by the ids that are waited for.
func TestAgentKeys(t *testing.T) {
	for _, row := range rowsOf("agent->client", "/params", agentParams) {
		segments := strings.Split(row.pointer, "/")
		key := segments[len(segments)-1]
		if key == "*" {
			key = segments[len(segments)-2]
		}
		if !slices.Contains(agentKeys, key) {
			t.Errorf("agentKeys lacks %q of %s", key, row.pointer)
		}
	}
}

func readFieldRows(t *testing.T) []fieldRow {
	t.Helper()
	text, err := frames.Files.ReadFile("fields.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var rows []fieldRow
	for _, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		if len(columns) != 5 {
			t.Fatalf("fields.tsv: %q has %d columns, want 5", line, len(columns))
		}
		rows = append(rows, fieldRow{columns[0], columns[1], columns[2], columns[3], columns[4]})
	}
	return rows
}

// rowsOf spells a table out as fields.tsv does.
func rowsOf(direction, part string, methods []method) []fieldRow {
	var rows []fieldRow
	for _, m := range methods {
		add := func(pointer string, k kind, when []string) {
			rows = append(rows, fieldRow{m.name, direction, pointer, kindName(k), strings.Join(when, "; ")})
		}
		eachField(part, m.shape, nil, add)
	}
	return rows
}

func eachField(pointer string, s *shape, when []string, add func(pointer string, k kind, when []string)) {
	switch {
	case s.kind != kindNone:
		add(pointer, s.kind, when)
	case s.element != nil:
		eachField(pointer+"/*", s.element, when, add)
	}
	for _, m := range s.members {
		eachField(pointer+"/"+m.key, m.shape, when, add)
	}
	for _, v := range s.options {
		for _, tag := range v.tags {
			condition := append(slices.Clone(when), pointer+"/"+s.tag+"=="+tag)
			for _, m := range v.members {
				eachField(pointer+"/"+m.key, m.shape, condition, add)
			}
		}
	}
}

func kindName(k kind) string {
	switch k {
	case kindPath, kindCwd, kindRoot, kindListFilter:
		return "path"
	case kindURI:
		return "uri"
	case kindMCPServer:
		return "mcp server"
	case kindAuthMethod:
		return "auth method"
	case kindCanTerminal:
		return "terminal capability"
	case kindNone:
	}
	return "none"
}
