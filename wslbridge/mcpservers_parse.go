package wslbridge

// mcpServer is a stdio server of mcpServers, taken apart.
type mcpServer struct {
	frame   []byte
	command span
	argList span   // the array, or null; empty where there is none
	args    []span // each a JSON string
	env     []mcpVariable
	envEnd  int // behind the last element of env
}

// mcpVariable is an element of env.
type mcpVariable struct {
	name  string
	value span // a JSON string
}

// parseMCPServer reports false for a server that is not reached through stdio, and for one whose
// values are not of the protocol's types. Servers on stdio have no type in v1, but some clients
// send it.
func parseMCPServer(frame []byte, at span) (*mcpServer, bool) {
	s := &mcpServer{frame: frame}
	if t := memberOf(frame, at, "type"); t.end > 0 && (!isString(frame, t) || s.text(t) != "stdio") {
		return nil, false
	}
	s.command = memberOf(frame, at, "command")
	s.argList = memberOf(frame, at, "args")
	return s, isString(frame, s.command) && s.parseArgs() && s.parseEnv(memberOf(frame, at, "env"))
}

func (s *mcpServer) text(at span) string { return string(unquote(at.in(s.frame))) }

// parseArgs accepts an array of strings, null and none.
func (s *mcpServer) parseArgs() bool {
	args, ok := elementsOf(s.frame, s.argList)
	for _, arg := range args {
		ok = ok && isString(s.frame, arg)
	}
	s.args = args
	return ok || isAbsent(s.frame, s.argList)
}

// parseEnv accepts an array of objects with a name and a value, null and none.
func (s *mcpServer) parseEnv(at span) bool {
	variables, ok := elementsOf(s.frame, at)
	for _, v := range variables {
		name, value := memberOf(s.frame, v, "name"), memberOf(s.frame, v, "value")
		if !isString(s.frame, name) || !isString(s.frame, value) {
			return false
		}
		s.env = append(s.env, mcpVariable{s.text(name), value})
		s.envEnd = v.end
	}
	return ok || isAbsent(s.frame, at)
}
