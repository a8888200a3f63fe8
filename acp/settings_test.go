//go:build !windows

package acp

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// current returns the value of each configuration option in a list.
func current(options any) map[string]string {
	values := map[string]string{}
	list, _ := options.([]any)
	for _, o := range list {
		fields, _ := o.(map[string]any)
		values[fmt.Sprint(fields["id"], " (", fields["category"], ")")] = fmt.Sprint(fields["currentValue"])
	}
	return values
}

func TestConfigOptionsModesAndModelsAreInStep(t *testing.T) {
	b := newBench(t)
	result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	b.until(isUpdate("usage_update"))
	session := fmt.Sprint(result["sessionId"])
	want := map[string]string{"model (model)": "big", "mode (mode)": "default", "reasoning_effort (thought_level)": "default"}
	if diff := cmp.Diff(want, current(result["configOptions"])); diff != "" {
		t.Error(diff)
	}

	answer, _ := b.ok("session/set_config_option", `{"sessionId":%q,"configId":"mode","value":"plan"}`, session)
	want["mode (mode)"] = "plan"
	if diff := cmp.Diff(want, current(answer["configOptions"])); diff != "" {
		t.Error(diff)
	}
	if got := b.next(); got.update() != "current_mode_update" || got.Params.Update["currentModeId"] != "plan" {
		t.Errorf("after the option came %s", got.raw)
	}

	b.ok("session/set_mode", `{"sessionId":%q,"modeId":"accept_edits"}`, session)
	want["mode (mode)"] = "accept_edits"
	if got := b.next(); got.update() != "config_option_update" || cmp.Diff(want, current(got.Params.Update["configOptions"])) != "" {
		t.Errorf("after the mode came %s", got.raw)
	}

	b.ok("session/set_model", `{"sessionId":%q,"modelId":"small"}`, session)
	want["model (model)"] = "small"
	if got := b.next(); got.update() != "config_option_update" || cmp.Diff(want, current(got.Params.Update["configOptions"])) != "" {
		t.Errorf("after the model came %s", got.raw)
	}

	answer, _ = b.ok("session/set_config_option", `{"sessionId":%q,"configId":"reasoning_effort","value":"high"}`, session)
	want["reasoning_effort (thought_level)"] = "high"
	if diff := cmp.Diff(want, current(answer["configOptions"])); diff != "" {
		t.Error(diff)
	}
	loaded, _ := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	models, _ := loaded["models"].(map[string]any)
	modes, _ := loaded["modes"].(map[string]any)
	if diff := cmp.Diff(want, current(loaded["configOptions"])); diff != "" || models["currentModelId"] != "small" || modes["currentModeId"] != "accept_edits" {
		t.Errorf("loaded with %v, %v and\n%s", models, modes, diff)
	}
	b.turn(session, "hi")
	if got := b.script.asked()[0].Effort; got != "high" {
		t.Errorf("the model was asked with effort %q", got)
	}
}

func TestSettingsThatDoNotExist(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	for _, params := range []string{
		`"configId":"mode","value":"yolo"`, `"configId":"model","value":"nobody-serves-this"`,
		`"configId":"reasoning_effort","value":"infinite"`, `"configId":"colour","value":"red"`,
		`"configId":"mode","type":"boolean","value":true`, `"configId":"mode"`,
	} {
		b.refused(-32602, "session/set_config_option", `{"sessionId":%q,%s}`, session, params)
	}
	b.refused(-32602, "session/set_model", `{"sessionId":%q,"modelId":"nobody-serves-this"}`, session)
	b.refused(-32602, "session/set_model", `{"sessionId":%q}`, session)
	b.refused(-32002, "session/set_model", `{"sessionId":"nope","modelId":"small"}`)
	b.refused(-32002, "session/set_config_option", `{"sessionId":"nope","configId":"mode","value":"plan"}`)
}

func TestCatalogArrivesAfterTheSession(t *testing.T) {
	b := connect(t, &script{}, newMemoryStore(), Config{Catalog: func(context.Context) ([]agent.ModelInfo, error) {
		return []agent.ModelInfo{{ID: "small", Provider: "scripted"}, {ID: "big", Provider: "scripted"}}, nil
	}})
	b.newSession()
	read := b.until(isUpdate("config_option_update"))
	if len(names(read)) != 1 {
		t.Errorf("before the options came %v", names(read))
	}
	options, _ := read[len(read)-1].Params.Update["configOptions"].([]any)
	model, _ := options[0].(map[string]any)
	choices, _ := model["options"].([]any)
	if len(choices) != 2 || model["currentValue"] != "big" {
		t.Errorf("choices %v", model)
	}
}

func TestContextWindowThatTheCatalogTells(t *testing.T) {
	models := &script{noWindow: true}
	b := connect(t, models, newMemoryStore(), Config{Catalog: func(context.Context) ([]agent.ModelInfo, error) {
		models.setNoWindow(false)
		return []agent.ModelInfo{{ID: "big", Provider: "scripted", ContextWindow: 100_000}}, nil
	}})
	b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	read := b.until(isUpdate("usage_update"))
	if got := read[len(read)-1].Params.Update["size"]; got != 100_000.0 {
		t.Errorf("the window's size is %v", got)
	}
}

// The protocol's cost is that of the whole session, whatever update it is in.
func TestCostAddsUpOverTheTurns(t *testing.T) {
	costs := func(usd float64) step {
		return func(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
			answer, err := says("hello")(ctx, req, emit)
			answer.Usage = agent.Usage{Input: 10, Output: 5, CostUSD: usd}
			return answer, err
		}
	}
	b := newBench(t, costs(0.25), costs(0.5))
	session := b.newSession()
	for _, turn := range []struct {
		prompt string
		want   float64
	}{{"one", 0.25}, {"two", 0.75}, {"/context", 0.75}} {
		_, updates := b.turn(session, turn.prompt)
		told := find(updates, "usage_update", "")
		if len(told) == 0 {
			t.Fatalf("no usage_update for %s", turn.prompt)
		}
		cost, _ := told[len(told)-1].Params.Update["cost"].(map[string]any)
		if cost["amount"] != turn.want || cost["currency"] != "USD" {
			t.Errorf("after %s it has cost %v, want %v", turn.prompt, cost, turn.want)
		}
	}
}

func TestPromptRunsInTheModeSetBeforeIt(t *testing.T) {
	for range 20 {
		b := newBench(t, calls(call("c1", "write_file", `{"path":"a.txt","content":"x"}`)))
		session := b.newSession()
		b.request("session/set_mode", `{"sessionId":%q,"modeId":"plan"}`, session)
		read := b.until(responseTo(b.prompt(session, "write")))
		if ends := find(read, "tool_call_update", "failed"); len(ends) != 1 {
			t.Fatalf("the edit was not refused: %v", names(read))
		}
	}
}

func TestModelChangeDuringATurnAppliesToTheNext(t *testing.T) {
	b := newBench(t, stalls(), says("with small"))
	b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}`)
	session := b.newSession()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	b.ok("session/set_model", `{"sessionId":%q,"modelId":"small"}`, session)
	read := b.until(isUpdate("notice"))
	if got := read[len(read)-1].Params.Update["title"]; got != "The model changes from the next turn on." {
		t.Errorf("said %v", got)
	}
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	b.until(responseTo(id))
}

// TestModelChangeDuringATurnSaysSoInTheOption is for clients without notices: the
// answer to the change says when it counts, and only while a turn runs.
func TestModelChangeDuringATurnSaysSoInTheOption(t *testing.T) {
	b := newBench(t, stalls())
	session := b.newSession()
	describe := func() map[string]string {
		t.Helper()
		result, _ := b.ok("session/set_config_option", `{"sessionId":%q,"configId":"model","value":"small"}`, session)
		texts := map[string]string{}
		options, _ := result["configOptions"].([]any)
		for _, o := range options {
			option, _ := o.(map[string]any)
			texts[fmt.Sprint(option["id"])], _ = option["description"].(string)
		}
		return texts
	}
	idle := describe()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	running := describe()
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	b.until(responseTo(id))

	const later = "Counts from the next turn on."
	if running["model"] != later || running["reasoning_effort"] != later || running["mode"] != "" {
		t.Errorf("while a turn runs the options say %v", running)
	}
	if idle["model"] != "" {
		t.Errorf("without a turn the model says %q", idle["model"])
	}
}
