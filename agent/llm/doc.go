// Package llm speaks to language models behind any OpenAI-compatible
// chat-completions endpoint.
//
// A Client is one model of one provider. It sends the strict request shape that
// every such provider takes, reads the answer's server-sent events as providers
// really send them, puts tool calls together, and retries what is worth
// retrying. What a provider turns out not to take (a parameter, a field) is left
// out from then on; that memory lives in the Client.
//
// The request types are go-openai's. Its client and stream reader are not used,
// for reasons that docs/decisions/001-model-stream.md gives.
package llm
