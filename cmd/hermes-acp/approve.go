package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// approval is the value of --approve: who answers the agent's questions.
type approval string

const (
	approveAsk   approval = "ask"   // the person
	approveEdits approval = "edits" // the flag for ordinary edits, the person for the rest
	approveAll   approval = "all"
	approveNone  approval = "none"
)

func parseApproval(value string) (approval, error) {
	known := []approval{approveAsk, approveEdits, approveAll, approveNone}
	if !slices.Contains(known, approval(value)) {
		return "", fmt.Errorf("--approve %s: want one of ask, edits, all, none", value)
	}
	return approval(value), nil
}

// answer is the option that was chosen for a question, "" when it was
// dismissed, and who chose it.
type answer struct {
	option acpsdk.PermissionOptionId
	by     answeredBy
}

// answeredBy says in words who answered.
type answeredBy string

const (
	byPerson  answeredBy = "you"
	byFlag    answeredBy = "--approve"
	byNobody  answeredBy = "no terminal to ask at; see --approve"
	byDismiss answeredBy = "dismissed"
)

func (a answer) allows(q acpclient.PermissionRequest) bool {
	for _, o := range q.Options {
		if o.OptionId == a.option {
			return o.Kind == acpsdk.PermissionOptionKindAllowOnce || o.Kind == acpsdk.PermissionOptionKindAllowAlways
		}
	}
	return false
}

// asker puts a question to the person. Its error means that no answer came.
type asker func(ctx context.Context, q acpclient.PermissionRequest) (answer, error)

var errNobody = errors.New("there is nobody to ask")

// askNobody is the asker where no person sits.
func askNobody(context.Context, acpclient.PermissionRequest) (answer, error) {
	return answer{}, errNobody
}

// decide answers a question.
func (a approval) decide(ctx context.Context, q acpclient.PermissionRequest, ask asker) answer {
	switch {
	case a == approveAll, a == approveEdits && isOrdinaryEdit(q):
		return answer{allowing(q), byFlag}
	case a == approveNone:
		return answer{denying(q), byFlag}
	}
	given, err := ask(ctx, q)
	switch {
	case err == nil:
		return given
	case ctx.Err() != nil:
		return answer{"", byDismiss}
	}
	return answer{"", byNobody} // nobody said no: the question is dismissed
}

// isOrdinaryEdit reports whether a question is about a change to files that the
// agent would also accept a lasting yes for. It offers none for sensitive ones,
// such as keys and git hooks.
func isOrdinaryEdit(q acpclient.PermissionRequest) bool {
	if optionOf(q, acpsdk.PermissionOptionKindAllowAlways) == "" {
		return false
	}
	if kind := q.ToolCall.Kind; kind != nil && *kind == acpsdk.ToolKindExecute {
		return false
	}
	return slices.ContainsFunc(q.ToolCall.Content, func(c acpsdk.ToolCallContent) bool { return c.Diff != nil })
}

func allowing(q acpclient.PermissionRequest) acpsdk.PermissionOptionId {
	return optionOf(q, acpsdk.PermissionOptionKindAllowOnce, acpsdk.PermissionOptionKindAllowAlways)
}

func denying(q acpclient.PermissionRequest) acpsdk.PermissionOptionId {
	return optionOf(q, acpsdk.PermissionOptionKindRejectOnce, acpsdk.PermissionOptionKindRejectAlways)
}

// optionOf returns the first option of the first kind that is offered, or "".
func optionOf(q acpclient.PermissionRequest, kinds ...acpsdk.PermissionOptionKind) acpsdk.PermissionOptionId {
	for _, kind := range kinds {
		for _, o := range q.Options {
			if o.Kind == kind {
				return o.OptionId
			}
		}
	}
	return ""
}
