package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxToolName is the longest function name that OpenAI-compatible providers take.
const maxToolName = 64

// tool is one tool of one server.
type tool struct {
	session *mcp.ClientSession
	server  string
	name    string // as the server spells it
	spec    agent.ToolSpec
}

func newTool(session *mcp.ClientSession, server string, t *mcp.Tool) (agent.Tool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if string(schema) == "null" {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return &tool{session: session, server: server, name: t.Name, spec: agent.ToolSpec{
		Name:        toolName(server, t.Name),
		Description: t.Description,
		Schema:      schema,
		Kind:        agent.KindOther,
	}}, nil
}

// toolName is mcp_SERVER_TOOL in the characters that providers allow, as Hermes
// names them.
func toolName(server, name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		default:
			return '_'
		}
	}, "mcp_"+server+"_"+name)
	return clean[:min(len(clean), maxToolName)]
}

func (t *tool) Spec() agent.ToolSpec { return t.spec }

// Plan asks for leave by the server's and the tool's name: what a server does
// cannot be seen from here.
func (t *tool) Plan(_ context.Context, _ *agent.Workspace, args json.RawMessage) (agent.Plan, error) {
	var arguments map[string]any
	if err := json.Unmarshal(args, &arguments); err != nil {
		return agent.Plan{}, fmt.Errorf("the arguments of %s must be a JSON object: %w", t.spec.Name, err)
	}
	return agent.Plan{
		Title:  t.server + ": " + t.name,
		Access: agent.Access{External: t.server + "/" + t.name},
		Run: func(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
			return t.call(ctx, args)
		},
	}, nil
}

func (t *tool) call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	answer, err := t.session.CallTool(ctx, &mcp.CallToolParams{Name: t.name, Arguments: args})
	if err != nil {
		if ctx.Err() != nil {
			return agent.Result{}, context.Cause(ctx)
		}
		return agent.Result{}, fmt.Errorf("MCP server %q: %w", t.server, err)
	}
	result := agent.Result{Failed: answer.IsError}
	var texts []string
	for _, c := range answer.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			result.Images = append(result.Images, "data:"+c.MIMEType+";base64,"+base64.StdEncoding.EncodeToString(c.Data))
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				texts = append(texts, c.Resource.Text)
			}
		case *mcp.ResourceLink:
			texts = append(texts, c.URI)
		}
	}
	if len(texts) == 0 && answer.StructuredContent != nil {
		structured, err := json.Marshal(answer.StructuredContent)
		if err != nil {
			return agent.Result{}, errors.Join(errors.New("the server's structured result cannot be read"), err)
		}
		texts = append(texts, string(structured))
	}
	result.Text = strings.Join(texts, "\n")
	return result, nil
}
