package wslbridge

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newTestStage(in string, out io.Writer, maxFrame int) *Stage {
	return NewStage(NewRewriter(RewriteConfig{Distro: "Ubuntu", Mounts: mountsOf("default")}), strings.NewReader(in), out, maxFrame, discardLog())
}

func TestStageAnswersLinesOverTheCap(t *testing.T) {
	var out bytes.Buffer
	stage := newTestStage(`{"method":"a"}`+"\n"+strings.Repeat("x", 200)+"\n"+`{"method":"b"}`+"\n", &out, 100)
	in, err := io.ReadAll(stage)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"method":"a"}` + "\n" + `{"method":"b"}` + "\n"; string(in) != want {
		t.Errorf("the agent read %q", in)
	}
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is longer than 100 bytes"}}` + "\n"; out.String() != want {
		t.Errorf("the client got %q", out.String())
	}
}

func TestStagePassesWholeFramesOutbound(t *testing.T) {
	var out bytes.Buffer
	stage := newTestStage("", &out, 100)
	for _, piece := range []string{`{"a"`, `:1}`, "\n", `{"b":2}` + "\r\n\n" + `{"c":`, "3}\n", strings.Repeat("y", 99), "yyyy", "yy\n{\"d\":4}\n", `{"e":5}`} {
		if _, err := stage.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stage.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n{\"d\":4}\n{\"e\":5}\n"; out.String() != want {
		t.Errorf("the client got %q, want %q", out.String(), want)
	}
}

func TestStageTracesWhatEachSideSpelled(t *testing.T) {
	var out bytes.Buffer
	stage := newTestStage(`{"id":1,"method":"session/new","params":{"cwd":"C:\\w"}}`+"\n"+`{"id":2,"method":"session/list","params":{"cwd":"Q:\\w"}}`+"\n", &out, 0)
	var traced []string
	stage.Trace = func(fromClient bool, frame []byte) {
		traced = append(traced, fmt.Sprintf("%v %s", fromClient, frame))
	}
	if _, err := io.ReadAll(stage); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stage, `{"id":1,"method":"fs/read_text_file","params":{"path":"/mnt/c/w/a"}}`+"\r\n"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`true {"id":1,"method":"session/new","params":{"cwd":"C:\\w"}}`,
		`true {"id":2,"method":"session/list","params":{"cwd":"Q:\\w"}}`,
		`false {"jsonrpc":"2.0","id":2,"result":{"sessions":[]}}`,
		`false {"id":1,"method":"fs/read_text_file","params":{"path":"/mnt/c/w/a"}}`,
	}
	if diff := cmp.Diff(want, traced); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The client learns that an answer is lost, and is not told so about a message that is none.
func TestStageDropsTooLongFramesOfTheAgent(t *testing.T) {
	pad := strings.Repeat("x", 100)
	lost := `{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32603,"message":"the agent's answer is longer than 100 bytes"}}` + "\n"
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a\u0062","result":{"x":["` + pad + `"]}}`:  lost,
		`{"id":"a\u0062","result":"` + pad + `"}`:                          lost,
		`{"result":"` + pad + `","id":1}`:                                  "",
		`{"id":1,"params":{"x":"` + pad + `"},"method":"m"}`:               "",
		`{"id":1,"method":"result","params":["result",{"` + pad + `":1}]}`: "",
		`[{"id":1,"result":"` + pad + `"}]`:                                "",
		`"id` + pad + `"`:                                                  "",
	} {
		var out bytes.Buffer
		stage := newTestStage("", &out, 100)
		for _, piece := range []string{"{}\n", frame[:60], frame[60:], "\n{}\n"} {
			if _, err := io.WriteString(stage, piece); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff("{}\n"+want+"{}\n", out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", frame, diff)
		}
	}
}
