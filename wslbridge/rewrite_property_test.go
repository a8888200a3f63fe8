package wslbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

// TestAgainstEncodingJSON respells and varies the frames of testdata/frames and compares what the bridge
// makes of them with what encoding/json and fields.tsv say, and the bytes of all tokens that do not
// change.
func TestAgainstEncodingJSON(t *testing.T) {
	rows := readFieldRows(t)
	samples := sampleFrames(t)
	rapid.Check(t, func(t *rapid.T) {
		fromClient := rapid.Bool().Draw(t, "from client")
		sample := rapid.SampledFrom(samples[fromClient]).Draw(t, "sample")
		frame := respelled(t, sample)

		r := NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")})
		got, refused := send(r, fromClient, frame)
		if fromClient && refused {
			return
		}
		wanted := oracle{rows: rows, fromClient: fromClient}.rewrite(decode(t, frame))
		if diff := cmp.Diff(wanted, decode(t, got)); diff != "" {
			t.Fatalf("%s\nbecame\n%s\n(-want +got):\n%s", frame, got, diff)
		}
		compareTokens(t, frame, got)
	})
}

// sampleFrames returns the frames that clients and agents send in testdata/frames, without those whose
// keys stand twice, which a map cannot hold, and those of paths that lost their slashes, which depend
// on the other folders.
func sampleFrames(tb testing.TB) map[bool][]any {
	tb.Helper()
	samples := map[bool][]any{}
	for _, c := range readConversations(tb) {
		for _, turn := range c.turns {
			var value any
			if strings.Contains(c.name, "twice") || strings.Contains(turn.sent, `"\\home`) || json.Unmarshal([]byte(turn.sent), &value) != nil {
				continue
			}
			if frame, ok := value.(map[string]any); ok {
				delete(frame, "result") // which depends on what was asked
				if params, ok := frame["params"].(map[string]any); ok {
					delete(params, "mcpServers")
					delete(params, "clientCapabilities")
				}
				samples[turn.fromClient] = append(samples[turn.fromClient], frame)
			}
		}
	}
	return samples
}

// respelled writes a value as JSON with keys in another order, escapes and white space, and some texts
// and members changed.
func respelled(t *rapid.T, value any) string {
	var b strings.Builder
	respell(t, &b, value)
	return b.String()
}

func respell(t *rapid.T, b *strings.Builder, value any) {
	space := func() { b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\t "}).Draw(t, "space")) }
	space()
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		if len(keys) > 1 {
			keys = rapid.Permutation(keys).Draw(t, "keys")
		}
		b.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			respellString(t, b, key)
			space()
			b.WriteByte(':')
			respell(t, b, value[key])
		}
		if rapid.IntRange(0, 5).Draw(t, "extra") == 0 && value["x"] == nil {
			if len(keys) > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"x":{"path":"/mnt/c/x","uri":"file:///C:/x","n":[1e5,-0.0,{}]}`)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, element := range value {
			if i > 0 {
				b.WriteByte(',')
			}
			respell(t, b, element)
		}
		b.WriteByte(']')
	case string:
		if rapid.IntRange(0, 4).Draw(t, "other text") == 0 && strings.ContainsAny(value, `/\`) && !strings.Contains(value, "session/") {
			value = rapid.SampledFrom([]string{
				"/mnt/c/ä/b", "/home/u/😀 x", "/", "C:\\w\\x", "rel/x", "", "file:///mnt/d/a%20b?q#f", "file:///C:/x",
				"file://wsl.localhost/Ubuntu/x", "https://example.com/mnt/c", "/mnt/c/\"q\"", "\\\\wsl$\\Ubuntu\\srv",
			}).Draw(t, "text")
		}
		respellString(t, b, value)
	default:
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	space()
}

func respellString(t *rapid.T, b *strings.Builder, s string) {
	escapeAll := rapid.IntRange(0, 6).Draw(t, "escape") == 0
	if !escapeAll {
		b.Write(quoted(s))
		return
	}
	b.WriteByte('"')
	for _, unit := range []byte(s) {
		if unit >= 0x80 { // a test of letters is enough
			b.WriteByte(unit)
			continue
		}
		fmt.Fprintf(b, `\u%04X`, unit)
	}
	b.WriteByte('"')
}

func decode(t *rapid.T, frame string) any {
	decoder := json.NewDecoder(strings.NewReader(frame))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	return value
}

// oracle is the rewrite stage written for decoded frames.
type oracle struct {
	rows       []fieldRow
	fromClient bool
}

func (o oracle) rewrite(value any) any {
	frame, ok := value.(map[string]any)
	if !ok {
		return value
	}
	direction := "agent->client"
	if o.fromClient {
		direction = "client->agent"
	}
	for _, row := range o.rows {
		if row.direction == direction && row.method == frame["method"] && (row.kind == "path" || row.kind == "uri") {
			o.apply(frame, frame, row, strings.Split(row.pointer, "/")[1:], nil)
		}
	}
	return frame
}

// apply rewrites the values under node that the rest of the row's pointer leads to. indices are those
// that stood for its stars so far.
func (o oracle) apply(frame, node any, row fieldRow, rest []string, indices []int) {
	switch node := node.(type) {
	case map[string]any:
		text, isText := node[rest[0]].(string)
		switch {
		case len(rest) > 1:
			o.apply(frame, node[rest[0]], row, rest[1:], indices)
		case isText && holds(frame, row.when, indices):
			node[rest[0]] = o.translate(row.kind, text)
		}
	case []any:
		for i, element := range node {
			at := append(slices.Clone(indices), i)
			text, isText := element.(string)
			switch {
			case rest[0] != "*":
			case len(rest) > 1:
				o.apply(frame, element, row, rest[1:], at)
			case isText && holds(frame, row.when, at):
				node[i] = o.translate(row.kind, text)
			}
		}
	}
}

// holds reports whether a frame fulfils the conditions POINTER==VALUE; the stars stand for the indices.
func holds(frame any, when string, indices []int) bool {
	for condition := range strings.SplitSeq(when, "; ") {
		pointer, want, ok := strings.Cut(condition, "==")
		if !ok {
			continue
		}
		node, star := frame, 0
		for _, segment := range strings.Split(pointer, "/")[1:] {
			switch at := node.(type) {
			case map[string]any:
				node = at[segment]
			case []any:
				node = at[indices[star]]
				star++
			}
		}
		if node != want {
			return false
		}
	}
	return true
}

func (o oracle) translate(kind, text string) string {
	t := pathxlate.Translator{Distro: "Ubuntu", Mounts: mountsOf("default")()}
	form := pathxlate.FormOf(text)
	var result string
	var err error
	switch {
	case o.fromClient && kind == "path" && form == pathxlate.FormPOSIX,
		!o.fromClient && form.IsWindows(),
		kind == "uri" && form == pathxlate.FormRelative:
		return text
	case o.fromClient && kind == "path":
		result, err = t.ToLinux(text)
	case o.fromClient && form == pathxlate.FormPOSIX,
		o.fromClient && t.Explain(pathxlate.OpURIToLinux, text).Rule == pathxlate.RuleLinuxPath:
		return text
	case o.fromClient:
		result, err = t.URIToLinux(text)
	case kind == "path":
		result, err = t.ToWindows(text)
	default:
		result, err = t.URIToWindows(text)
	}
	if err != nil {
		return text
	}
	return result
}

// compareTokens checks that two frames differ in nothing but the texts of some strings.
func compareTokens(t *rapid.T, before, after string) {
	a, b := json.NewDecoder(strings.NewReader(before)), json.NewDecoder(strings.NewReader(after))
	a.UseNumber()
	b.UseNumber()
	var fromA, fromB int64
	for {
		tokenA, errA := a.Token()
		tokenB, errB := b.Token()
		rawA, rawB := before[fromA:a.InputOffset()], after[fromB:b.InputOffset()]
		fromA, fromB = a.InputOffset(), b.InputOffset()
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%s\nhas other tokens than\n%s", after, before)
		}
		if errA != nil {
			break
		}
		_, isText := tokenA.(string)
		if tokenA == tokenB && rawA != rawB || tokenA != tokenB && !isText {
			t.Fatalf("%q became %q in\n%s", rawA, rawB, after)
		}
	}
	if before[fromA:] != after[fromB:] {
		t.Fatalf("the end %q became %q", before[fromA:], after[fromB:])
	}
}

// TestRootsComeBack checks that what lies in a folder of the client is shown below that folder as the
// client spelled it, and that the agent gets its own path again when the client names it.
func TestRootsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Zä€😀 ._-]{0,8}[a-zA-Zä€]`)
		root := rapid.SampledFrom([]string{
			`C:\`, `c:\`, `d:/`, `\\wsl.localhost\Ubuntu\`, `\\wsl$\ubuntu\`, `//wsl.localhost/Ubuntu/`,
			`\\?\C:\`, `\\?\UNC\wsl.localhost\Ubuntu\`, `\\server\share\`, `W:\`,
		}).Draw(t, "root") + name.Draw(t, "folder")
		file := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "file"), "/")

		r := NewRewriter(RewriteConfig{
			Distro: "Ubuntu", Mounts: mountsOf("default"),
			Drives: map[string]string{"W": `\\wsl.localhost\Ubuntu\srv`},
		})
		setup := fmt.Appendf(nil, `{"id":1,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`, quoted(root))
		out, reply := r.Inbound(setup)
		if reply != nil {
			t.Fatalf("refused: %s", reply)
		}
		var session struct{ Params struct{ Cwd string } }
		if err := json.Unmarshal(out, &session); err != nil {
			t.Fatal(err)
		}
		linux := session.Params.Cwd + "/" + file

		shown := r.Outbound(fmt.Appendf(nil, `{"id":1,"method":"fs/read_text_file","params":{"path":%s}}`, quoted(linux)))
		separator := root[strings.LastIndexAny(root, `/\`):][:1]
		want := root + separator + strings.ReplaceAll(file, "/", separator)
		wantFrame := fmt.Sprintf(`{"id":1,"method":"fs/read_text_file","params":{"path":%s}}`, quoted(want))
		if string(shown) != wantFrame {
			t.Fatalf("%s is shown as\n%s, want\n%s", linux, shown, wantFrame)
		}
		back, reply := r.Inbound(fmt.Appendf(nil, `{"id":2,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`, quoted(want)))
		if wantBack := fmt.Appendf(nil, `{"id":2,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`, quoted(linux)); !bytes.Equal(back, wantBack) {
			t.Fatalf("%s comes back as\n%s%s, want\n%s", want, back, reply, wantBack)
		}
	})
}
