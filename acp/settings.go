package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// Ids of the configuration options.
const (
	modelOption  = "model"
	modeOption   = "mode"
	effortOption = "reasoning_effort"
)

// defaultEffort is the wire's name for leaving the effort to the provider.
const defaultEffort = "default"

// sessionState is what new, load, resume and fork tell of a session. Newer
// clients read configOptions, older ones modes and models; all say the same.
type sessionState struct {
	SessionID     string                   `json:"sessionId,omitempty"` // new and fork only
	Modes         *acpsdk.SessionModeState `json:"modes"`
	Models        *modelState              `json:"models,omitempty"`
	ConfigOptions []configOption           `json:"configOptions"`
	Meta          map[string]any           `json:"_meta,omitempty"`

	contextWindow int // of the current model, in tokens; 0 when unknown
}

// configOption is the SDK's select. Its Options stand in for the SDK's union of
// lists, which encodes them several times over.
type configOption struct {
	acpsdk.SessionConfigOptionSelect
	Options []acpsdk.SessionConfigSelectOption `json:"options"`
}

// configOptions is the complete list, as the result of a set_config_option and
// as a session update.
type configOptions struct {
	SessionUpdate string         `json:"sessionUpdate,omitempty"`
	ConfigOptions []configOption `json:"configOptions"`
}

// modelState is how models were chosen before configOptions; the SDK has
// dropped it, clients have not.
type modelState struct {
	CurrentModelID  string        `json:"currentModelId"`
	AvailableModels []modelChoice `json:"availableModels"`
}

type modelChoice struct {
	ModelID     string `json:"modelId"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// state describes a session. Without a model provider there is no model to
// choose, which is no reason not to show the session.
func (s *server) state(ctx context.Context, session *agent.Session) (sessionState, error) {
	rec, err := session.Record(ctx)
	if err != nil {
		return sessionState{}, err
	}
	state := sessionState{Modes: modeState(rec.Mode)}
	if info, err := s.modelInfo(ctx, rec); err == nil {
		state.contextWindow = info.ContextWindow
		state.Models = s.models(info)
		state.ConfigOptions = append(state.ConfigOptions, modelChoices(state.Models))
	} else if !errors.Is(err, agent.ErrNoProvider) && !errors.Is(err, agent.ErrUnknownModel) {
		return sessionState{}, err
	}
	state.ConfigOptions = append(state.ConfigOptions, modeChoices(rec.Mode), effortChoices(rec.Effort))
	if s.view(session.ID()).isRunning() {
		sayNextTurn(state.ConfigOptions)
	}
	return state, nil
}

// sayNextTurn has the options that a running turn does not take up any more say
// so, for clients that are shown no notices.
func sayNextTurn(options []configOption) {
	text := "Counts from the next turn on."
	for i, option := range options {
		if option.Id == modelOption || option.Id == effortOption {
			options[i].Description = &text
		}
	}
}

// modelInfo describes a session's model under the id by which it was chosen, which
// holds the provider where it is not the configured one.
func (s *server) modelInfo(ctx context.Context, rec agent.SessionRecord) (agent.ModelInfo, error) {
	model, err := s.agent.Model(ctx, rec.Model)
	if err != nil {
		return agent.ModelInfo{}, err
	}
	info := model.Info()
	if rec.Model != "" {
		info.ID = rec.Model
	}
	return info, nil
}

// models lists what can be chosen, the current model always among it.
func (s *server) models(current agent.ModelInfo) *modelState {
	state := &modelState{CurrentModelID: current.ID, AvailableModels: []modelChoice{}}
	known := s.catalog.models()
	if !slices.ContainsFunc(known, func(m agent.ModelInfo) bool { return m.ID == current.ID }) {
		known = append([]agent.ModelInfo{current}, known...)
	}
	for _, m := range known {
		state.AvailableModels = append(state.AvailableModels, modelChoice{ModelID: m.ID, Name: m.ID, Description: "Provider: " + m.Provider})
	}
	return state
}

func modelChoices(models *modelState) configOption {
	var choices []acpsdk.SessionConfigSelectOption
	for _, m := range models.AvailableModels {
		choices = append(choices, acpsdk.SessionConfigSelectOption{Value: acpsdk.SessionConfigValueId(m.ModelID), Name: m.Name, Description: &m.Description})
	}
	return choice(modelOption, "Model", acpsdk.SessionConfigOptionCategoryModel, models.CurrentModelID, choices)
}

func modeChoices(current agent.Mode) configOption {
	var choices []acpsdk.SessionConfigSelectOption
	for _, m := range modes() {
		choices = append(choices, acpsdk.SessionConfigSelectOption{Value: acpsdk.SessionConfigValueId(m.Id), Name: m.Name, Description: m.Description})
	}
	return choice(modeOption, "Edits", acpsdk.SessionConfigOptionCategoryMode, string(current), choices)
}

// efforts are the reasoning efforts that can be chosen.
func efforts() []string { return []string{defaultEffort, "low", "medium", "high"} }

func effortChoices(current string) configOption {
	if current == "" {
		current = defaultEffort
	}
	names := map[string]string{defaultEffort: "Default", "low": "Low", "medium": "Medium", "high": "High"}
	var choices []acpsdk.SessionConfigSelectOption
	for _, effort := range efforts() {
		choices = append(choices, acpsdk.SessionConfigSelectOption{Value: acpsdk.SessionConfigValueId(effort), Name: names[effort]})
	}
	return choice(effortOption, "Thinking", acpsdk.SessionConfigOptionCategoryThoughtLevel, current, choices)
}

func choice(id, name string, category acpsdk.SessionConfigOptionCategory, current string, choices []acpsdk.SessionConfigSelectOption) configOption {
	return configOption{
		SessionConfigOptionSelect: acpsdk.SessionConfigOptionSelect{
			Id:           acpsdk.SessionConfigId(id),
			Name:         name,
			Type:         "select",
			Category:     &category,
			CurrentValue: acpsdk.SessionConfigValueId(current),
		},
		Options: choices,
	}
}

// inOrder routes a request that changes a session. Such requests are served in
// the order of their arrival, before the turns of prompts that arrive later; a
// running turn is not waited for.
func inOrder[P interface{ target() sessionParams }](s *server, req *jsonrpc.Request, f func(context.Context, *jsonrpc.Request, *agent.Session, P) (any, error)) jsonrpc.Responder {
	params, err := decode[P](req.Params)
	if err != nil {
		return jsonrpc.Fail(err)
	}
	session, err := s.session(params.target())
	if err != nil {
		return jsonrpc.Fail(err)
	}
	ahead, leave := s.view(session.ID()).settings.join()
	return func(ctx context.Context) (any, error) {
		defer leave()
		ahead.wait(ctx)
		result, err := f(ctx, req, session, params)
		if err != nil {
			return nil, s.sessionError(session.ID(), err)
		}
		return result, nil
	}
}

func (p sessionParams) target() sessionParams { return p }

type setModeParams struct {
	sessionParams
	ModeID string `json:"modeId"`
}

func (s *server) setMode(ctx context.Context, req *jsonrpc.Request, session *agent.Session, p setModeParams) (any, error) {
	mode, err := parseMode(p.ModeID)
	if err != nil {
		return nil, err
	}
	if err := session.SetMode(ctx, mode); err != nil {
		return nil, err
	}
	req.AfterResponse = func() { s.updates(session.ID()).configOptions(ctx, session) }
	return struct{}{}, nil
}

type setModelParams struct {
	sessionParams
	ModelID string `json:"modelId"`
}

func (s *server) setModel(ctx context.Context, req *jsonrpc.Request, session *agent.Session, p setModelParams) (any, error) {
	if p.ModelID == "" {
		return nil, invalid("modelId is required")
	}
	if err := session.SetModel(ctx, p.ModelID); err != nil {
		return nil, err
	}
	req.AfterResponse = func() {
		u := s.updates(session.ID())
		u.configOptions(ctx, session)
		u.fromNextTurn(ctx, "The model")
	}
	return struct{}{}, nil
}

type setConfigParams struct {
	sessionParams
	ConfigID string          `json:"configId"`
	Value    json.RawMessage `json:"value"`
}

func (s *server) setConfigOption(ctx context.Context, req *jsonrpc.Request, session *agent.Session, p setConfigParams) (any, error) {
	var value string
	if err := json.Unmarshal(p.Value, &value); err != nil {
		return nil, invalid("value of %s must be a string", p.ConfigID)
	}
	var after func(*updates)
	switch p.ConfigID {
	case modelOption:
		if err := session.SetModel(ctx, value); err != nil {
			return nil, err
		}
		after = func(u *updates) { u.fromNextTurn(ctx, "The model") }
	case modeOption:
		mode, err := parseMode(value)
		if err != nil {
			return nil, err
		}
		if err := session.SetMode(ctx, mode); err != nil {
			return nil, err
		}
		after = func(u *updates) { u.currentMode(ctx, mode) }
	case effortOption:
		if err := setEffort(ctx, session, value); err != nil {
			return nil, err
		}
		after = func(u *updates) { u.fromNextTurn(ctx, "The reasoning effort") }
	default:
		return nil, invalid("there is no option %q; the options are model, mode and reasoning_effort", p.ConfigID)
	}
	state, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	req.AfterResponse = func() { after(s.updates(session.ID())) }
	return configOptions{ConfigOptions: state.ConfigOptions}, nil
}

func setEffort(ctx context.Context, session *agent.Session, value string) error {
	if !slices.Contains(efforts(), value) {
		return invalid("there is no reasoning effort %q; they are default, low, medium and high", value)
	}
	if value == defaultEffort {
		value = ""
	}
	return session.SetEffort(ctx, value)
}

// configOptions tells the complete options after something changed them.
func (u *updates) configOptions(ctx context.Context, session *agent.Session) {
	state, err := u.server.state(ctx, session)
	if err != nil {
		u.server.log.WarnContext(ctx, "session state unknown", "session_id", session.ID(), "error", err)
		return
	}
	u.show(ctx, configOptions{SessionUpdate: "config_option_update", ConfigOptions: state.ConfigOptions})
}

// currentMode tells clients that know modes but no configOptions.
func (u *updates) currentMode(ctx context.Context, mode agent.Mode) {
	u.show(ctx, acpsdk.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeId: acpsdk.SessionModeId(mode)})
}

// fromNextTurn says that a turn which runs goes on as it began.
func (u *updates) fromNextTurn(ctx context.Context, what string) {
	if u.view.isRunning() {
		u.emit(ctx, agent.Notice{Text: what + " changes from the next turn on."})
	}
}
