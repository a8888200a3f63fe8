// Package agent is the domain of hermes-acp: sessions, turns, the loop between
// model and tools, edit proposals, approvals and lineage.
//
// It imports the standard library only. Everything outside the domain reaches
// it through the small interfaces declared here, next to their use: Model
// (agent/llm), Tool (agent/tools, agent/mcp), Store (agent/store), and Approver
// and the event sink (acp, one of each for every turn).
package agent
