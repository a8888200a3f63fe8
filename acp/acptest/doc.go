// Package acptest checks what an agent writes on an ACP connection.
//
// A Checker sees every line of both directions and knows the rules that hold at
// any moment of any conversation: each line valid against the protocol's JSON
// schema, one response for each request, one end for each tool call, updates
// only for sessions the client knows and only while something of theirs runs.
// End-to-end tests watch every connection they open with Watch.
package acptest
