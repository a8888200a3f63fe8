package offline

import (
	"encoding/json"
	"fmt"
	"strings"
)

// request is the part of a chat-completions request that this model looks at.
type request struct {
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools"`
	Stream   bool      `json:"stream"`
}

type message struct {
	Role      string     `json:"role"`
	Content   content    `json:"content"`
	ToolCalls []struct{} `json:"tool_calls"`
}

// content is the text of a message, and whether an image came with it.
type content struct {
	text  string
	image bool
}

// UnmarshalJSON takes a string, a list of parts, or null.
func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		c.image = c.image || p.Type == "image_url"
	}
	return nil
}

// turn is the running turn of a conversation: the person's last request and what
// was done about it.
type turn struct {
	request string
	first   bool     // nothing was answered before it
	results []string // of the calls made so far, in order
}

func runningTurn(messages []message) turn {
	t := turn{first: true}
	answered := false
	for i, m := range messages {
		switch m.Role {
		case "user":
			if i > 0 && messages[i-1].Role == "tool" && m.Content.image {
				continue // the image that a tool found
			}
			t = turn{request: m.Content.text, first: !answered}
		case "assistant":
			answered = true
		case "tool":
			t.results = append(t.results, m.Content.text)
		}
	}
	return t
}

const (
	introduction = "I am hermes-acp's built-in offline model: I follow simple requests by rule and need no key and no network."
	capabilities = "I can read a file you name, replace text in a file, create a file, and run a command. For example:\n\n" +
		"- read notes.txt\n" +
		"- replace \"old\" with \"new\" in notes.txt\n" +
		"- create hello.txt with the content \"Hello\"\n" +
		"- run `ls -l`, then read hello.txt\n\n" +
		"For anything else, set up a real model with `hermes-acp --setup`."
)

// respond is the model: the next tool call of what the person asked for, or, when
// all is done or one step failed, what came of it.
func respond(req request) answer {
	t := runningTurn(req.Messages)
	var text strings.Builder
	if t.first && len(t.results) == 0 {
		text.WriteString(introduction + "\n\n")
	}
	a := answer{}
	steps, unclear := understand(t.request)
	switch {
	case len(steps) == 0 || len(req.Tools) == 0:
		if !t.first {
			text.WriteString("I am a built-in offline model and did not understand that. ")
		}
		text.WriteString(capabilities)
	case len(t.results) < len(steps) && !lastFailed(t.results):
		next := steps[len(t.results)]
		c, err := next.callTool(req.Tools)
		if err != nil {
			fmt.Fprintf(&text, "%sI cannot do that: %v.", summary(steps, t.results, unclear), err)
			break
		}
		text.WriteString(next.announcement())
		a.call = &c
	default:
		text.WriteString(summary(steps, t.results, unclear))
	}
	a.text = strings.TrimRight(text.String(), "\n")
	a.usage = countTokens(req, a)
	return a
}

// countTokens guesses four bytes a token.
func countTokens(req request, a answer) object {
	in := 0
	for _, m := range req.Messages {
		in += len(m.Content.text)/4 + 4
	}
	out := len(a.text)/4 + 1
	if a.call != nil {
		out += len(a.call.arguments) / 4
	}
	return object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// announcement says what comes next.
func (s step) announcement() string {
	switch s.kind {
	case kindRead:
		return fmt.Sprintf("I will read %s.", s.path)
	case kindReplace:
		return fmt.Sprintf("I will edit %s.", s.path)
	case kindCreate:
		return fmt.Sprintf("I will write %s.", s.path)
	case kindRun:
		return fmt.Sprintf("I will run `%s`.", s.command)
	case kindNone:
	}
	return ""
}
