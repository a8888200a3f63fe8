package wslbridge

// This file is the one table of what the rewrite stage may touch: the path fields of ACP v1, stable
// and unstable, as the protocol's JSON schemas give them. TestFieldTable holds it against
// testdata/frames/fields.tsv. What is not in the table is copied byte for byte: _meta, rawInput and
// rawOutput, texts, diff bodies, network URLs, extension methods.

// kind is what has to be done with a field.
type kind uint8

const (
	kindNone        kind = iota
	kindPath             // an absolute path
	kindURI              // a URI that may be a file: URI
	kindCwd              // the folder of a session; the request is refused when it cannot cross
	kindRoot             // another folder of a session, likewise
	kindListFilter       // the folder whose sessions are asked for; nothing is listed when it cannot cross
	kindMCPServer        // an object: command, args and env of a program (mcpservers.go)
	kindCanTerminal      // the client's offer of terminals
	kindAuthMethod       // an object: a way to log in (authmethods.go)
)

// isFolder reports whether a session works in folders of the kind, or is looked for by them.
func (k kind) isFolder() bool { return k == kindCwd || k == kindRoot || k == kindListFilter }

// shape says which parts of a JSON value are fields.
type shape struct {
	kind    kind
	members []member // of an object, besides those of its variant
	element *shape   // of an array
	tag     string   // the member whose text names the variant of an object
	options []variant
}

type member struct {
	key   string
	shape *shape
}

// variant is what an object has when its tag is one of tags.
type variant struct {
	tags    []string
	members []member
}

// method gives the shape of a method's params or of its result.
type method struct {
	name  string
	shape *shape
}

// clientParams are the params that the client sends.
var clientParams = []method{
	{"initialize", &shape{members: []member{
		{"clientCapabilities", &shape{members: []member{{"terminal", &shape{kind: kindCanTerminal}}}}},
	}}},
	{"session/new", sessionSetup},
	{"session/load", sessionSetup},
	{"session/resume", sessionSetup},
	{"session/fork", sessionSetup},
	{"session/list", &shape{members: []member{{"cwd", &shape{kind: kindListFilter}}}}},
	{"session/prompt", &shape{members: []member{{"prompt", contentBlocks}}}},
	{"document/didOpen", withURI},
	{"document/didChange", withURI},
	{"document/didClose", withURI},
	{"document/didSave", withURI},
	{"document/didFocus", withURI},
	{"nes/start", &shape{members: []member{
		{"workspaceUri", uriField},
		{"workspaceFolders", listOfURIs},
	}}},
	{"nes/suggest", &shape{members: []member{
		{"uri", uriField},
		{"context", &shape{members: []member{
			{"diagnostics", listOfURIs},
			{"editHistory", listOfURIs},
			{"openFiles", listOfURIs},
			{"recentFiles", listOfURIs},
			{"relatedSnippets", listOfURIs},
			{"userActions", listOfURIs},
		}}},
	}}},
}

// agentParams are the params that the agent sends.
var agentParams = []method{
	{"session/update", &shape{members: []member{{"update", sessionUpdate}}}},
	{"session/request_permission", &shape{members: []member{
		{"toolCall", &shape{members: toolCallMembers}},
	}}},
	{"fs/read_text_file", &shape{members: []member{{"path", pathField}}}},
	{"fs/write_text_file", &shape{members: []member{{"path", pathField}}}},
	{"terminal/create", &shape{members: []member{{"cwd", pathField}}}},
}

// agentResults are the results that the agent sends, by the method that the client asked for.
var agentResults = []method{
	{"initialize", &shape{members: []member{
		{"authMethods", &shape{element: &shape{kind: kindAuthMethod}}},
	}}},
	{"session/list", &shape{members: []member{
		{"sessions", &shape{element: &shape{members: folders}}},
	}}},
	{"nes/suggest", &shape{members: []member{
		{"suggestions", &shape{element: &shape{tag: "kind", options: []variant{
			{[]string{"edit", "jump", "rename", "searchAndReplace"}, []member{{"uri", uriField}}},
		}}}},
	}}},
}

// agentKeys are the last keys of all fields that the agent sends. A frame that has none of them
// has no field.
var agentKeys = []string{"path", "uri", "cwd", "additionalDirectories"}

var (
	pathField  = &shape{kind: kindPath}
	uriField   = &shape{kind: kindURI}
	withURI    = &shape{members: []member{{"uri", uriField}}}
	listOfURIs = &shape{element: withURI}

	folders = []member{
		{"cwd", pathField},
		{"additionalDirectories", &shape{element: pathField}},
	}

	sessionSetup = &shape{members: []member{
		{"cwd", &shape{kind: kindCwd}},
		{"additionalDirectories", &shape{element: &shape{kind: kindRoot}}},
		{"mcpServers", &shape{element: &shape{kind: kindMCPServer}}},
		{"systemPrompt", &shape{members: []member{{"content", contentBlocks}}}},
	}}

	contentBlock = &shape{tag: "type", options: []variant{
		{[]string{"resource_link", "image"}, []member{{"uri", uriField}}},
		{[]string{"resource"}, []member{{"resource", withURI}}},
	}}
	contentBlocks = &shape{element: contentBlock}

	toolCallMembers = []member{
		{"locations", &shape{element: &shape{members: []member{{"path", pathField}}}}},
		{"content", &shape{element: &shape{tag: "type", options: []variant{
			{[]string{"diff"}, []member{{"path", pathField}}},
			{[]string{"content"}, []member{{"content", contentBlock}}},
		}}}},
	}

	sessionUpdate = &shape{tag: "sessionUpdate", options: []variant{
		{[]string{"tool_call", "tool_call_update"}, toolCallMembers},
		{[]string{
			"user_message_chunk", "agent_message_chunk", "agent_thought_chunk",
			"compaction_summary_chunk", "session_message_chunk",
		}, []member{{"content", contentBlock}}},
		{[]string{"session_message"}, []member{{"content", contentBlocks}}},
		{[]string{"compaction_update"}, []member{{"summary", contentBlocks}}},
		{[]string{"plan_update"}, []member{
			{"plan", &shape{tag: "type", options: []variant{{[]string{"file"}, []member{{"uri", uriField}}}}}},
		}},
		{[]string{"subagent_update"}, folders},
	}}
)

// shapeOf finds a method's shape, nil when it has no field.
func shapeOf(methods []method, name []byte) *shape {
	for _, m := range methods {
		if m.name == string(name) {
			return m.shape
		}
	}
	return nil
}
