package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// tool is a tool that a request offers.
type tool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}

// argument is a value and the names that schemas have for it.
type argument struct {
	names []string
	value any
}

// callTool makes the call of a step with one of the offered tools.
func (s step) callTool(offered []tool) (call, error) {
	path := argument{[]string{"path", "file_path", "filename"}, s.path}
	switch s.kind {
	case kindRead:
		return bind(offered, []string{"read_file", "read"}, path)
	case kindReplace:
		args := []argument{
			path,
			{[]string{"mode"}, "replace"},
			{[]string{"old_string", "old_text"}, s.old},
			{[]string{"new_string", "new_text"}, s.new},
		}
		if s.all {
			args = append(args, argument{[]string{"replace_all"}, true})
		}
		return bind(offered, []string{"patch", "edit_file", "edit"}, args...)
	case kindCreate:
		return bind(offered, []string{"write_file", "create_file", "write"}, path, argument{[]string{"content", "text"}, s.new})
	case kindRun:
		return bind(offered, []string{"terminal", "shell", "bash"}, argument{[]string{"command", "cmd"}, s.command})
	case kindNone:
	}
	return call{}, errors.New("there is nothing to do")
}

// bind finds the first offered tool of the given names and fills in the
// arguments that its schema has.
func bind(offered []tool, names []string, args ...argument) (call, error) {
	for _, name := range names {
		i := slices.IndexFunc(offered, func(t tool) bool { return t.Function.Name == name })
		if i < 0 {
			continue
		}
		values := make(map[string]any)
		properties := offered[i].Function.Parameters.Properties
		for _, arg := range args {
			for _, n := range arg.names {
				if _, has := properties[n]; has {
					values[n] = arg.value
					break
				}
			}
		}
		for _, required := range offered[i].Function.Parameters.Required {
			if _, ok := values[required]; !ok {
				return call{}, fmt.Errorf("the tool %s wants the argument %s, which I do not know", name, required)
			}
		}
		text, err := json.Marshal(values)
		if err != nil {
			return call{}, fmt.Errorf("call %s: %w", name, err)
		}
		return call{tool: name, arguments: string(text)}, nil
	}
	return call{}, fmt.Errorf("the tool %s, which that needs, is not offered", names[0])
}
