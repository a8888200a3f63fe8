package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// answer is what one request gets.
type answer struct {
	status   int
	header   http.Header
	pieces   []piece
	bytewise bool
	cut      bool
}

// piece is text to send, after the gate was opened when it names one.
type piece struct {
	gate string
	text string
}

// parse reads a script.
func parse(script string) ([]answer, error) {
	var answers []answer
	for i, file := range txtar.Parse([]byte(script)).Files {
		a, err := parseAnswer(i, file)
		if err != nil {
			return nil, fmt.Errorf("section %d (-- %s --): %w", i+1, file.Name, err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func parseAnswer(section int, file txtar.File) (answer, error) {
	words := strings.Fields(file.Name)
	kind, options := words[0], words[1:]
	a := answer{status: http.StatusOK, header: http.Header{}, pieces: []piece{{text: string(file.Data)}}}
	switch kind {
	case "reply":
		pieces, err := reply(section, string(file.Data))
		if err != nil {
			return answer{}, err
		}
		a.pieces = pieces
		a.header.Set("Content-Type", "text/event-stream")
	case "sse":
		a.header.Set("Content-Type", "text/event-stream")
	case "json":
		a.header.Set("Content-Type", "application/json")
	case "html":
		a.header.Set("Content-Type", "text/html; charset=utf-8")
	case "status":
		return parseStatus(a, options)
	default:
		return answer{}, fmt.Errorf("unknown kind of answer %q", kind)
	}
	for _, option := range options {
		switch option {
		case "bytewise":
			a.bytewise = true
		case "cut":
			a.cut = true
		default:
			return answer{}, fmt.Errorf("unknown option %q", option)
		}
	}
	return a, nil
}

func parseStatus(a answer, words []string) (answer, error) {
	if len(words) == 0 {
		return answer{}, fmt.Errorf("no status code")
	}
	code, err := strconv.Atoi(words[0])
	if err != nil {
		return answer{}, fmt.Errorf("status code %q is not a number", words[0])
	}
	a.status = code
	a.header.Set("Content-Type", "application/json")
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return answer{}, fmt.Errorf("header %q is not NAME=VALUE", word)
		}
		a.header.Set(name, value)
	}
	return a, nil
}

// object is JSON under construction.
type object = map[string]any

// reply turns directives into a stream as OpenAI sends it.
func reply(section int, body string) ([]piece, error) {
	var pieces []piece
	gate, calls, finish := "", 0, ""
	var usage object
	send := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // made of strings and numbers only
		}
		pieces = append(pieces, piece{gate, "data: " + string(data) + "\n\n"})
		gate = ""
	}
	delta := func(d object) {
		send(object{"object": "chat.completion.chunk", "choices": []object{{"index": 0, "delta": d, "finish_reason": nil}}})
	}
	delta(object{"role": "assistant", "content": ""})
	for line := range strings.Lines(body) {
		directive, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch directive {
		case "":
		case "text":
			delta(object{"content": unquote(rest)})
		case "thought":
			delta(object{"reasoning_content": unquote(rest)})
		case "call":
			name, args, _ := strings.Cut(rest, " ")
			id := fmt.Sprintf("call_%d_%d", section+1, calls+1)
			delta(object{"tool_calls": []object{{
				"index": calls, "id": id, "type": "function", "function": object{"name": name, "arguments": args},
			}}})
			calls++
		case "usage":
			var in, out int
			if _, err := fmt.Sscan(rest, &in, &out); err != nil {
				return nil, fmt.Errorf("usage %q: %w", rest, err)
			}
			usage = object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
		case "finish":
			finish = rest
		case "gate":
			gate = rest
		default:
			return nil, fmt.Errorf("unknown directive %q", directive)
		}
	}
	switch {
	case finish != "":
	case calls > 0:
		finish = "tool_calls"
	default:
		finish = "stop"
	}
	send(object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": finish}}})
	if usage != nil {
		send(object{"choices": []object{}, "usage": usage})
	}
	return append(pieces, piece{text: "data: [DONE]\n\n"}), nil
}

func unquote(s string) string {
	if q, err := strconv.Unquote(s); err == nil {
		return q
	}
	return s
}
