// Package acp serves an agent.Agent over the Agent Client Protocol, version 1.
//
// It is an adapter: it decodes what the client sends, calls the domain, and
// renders the domain's events as session updates. It decides nothing about
// turns, tools or leave, and it sees POSIX paths only: it is not linked on
// Windows, and its tests do not run there.
//
// Order is its one difficult subject. The connection (package acp/jsonrpc) hands
// over messages in the order in which they arrived; what has to happen in that
// order (a prompt taking its place in line, a cancel) happens in the handlers of
// server.go before they return, everything else in the Responder they return.
package acp
