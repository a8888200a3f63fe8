// Package offline is the built-in model: a small OpenAI-compatible server on the
// loopback interface that follows simple requests by rule. It lets people try
// the program, and tests drive it, without a key or a network.
//
// It understands, in several phrasings: read a named file, replace text in a
// file, create a file with a content, run a command, and several of these in one
// request ("... then ..."). It asks for the tools that the request offers, by
// their schemas, and tells what came of them. To anything else it says what it
// is. It is no part of any test or demo: it knows no file and no text.
package offline
