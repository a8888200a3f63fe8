// Package llmtest is a model server for tests. It plays a script, one section a
// request, and is strict about what it is asked: a request that a picky provider
// would refuse fails the test.
//
// A script is a txtar archive. The name of each file says how one request is
// answered, its body with what:
//
//	-- reply --              directives, one a line, made into a stream:
//	    text WORDS           a piece of text; a Go string in quotes for white space
//	    thought WORDS        a piece of reasoning (reasoning_content)
//	    call NAME ARGUMENTS  a tool call, ARGUMENTS a JSON object on the same line
//	    usage IN OUT         token counts
//	    finish REASON        instead of stop or tool_calls
//	    gate NAME            wait here until the test opens the gate
//	-- sse --                the body as it stands, as text/event-stream
//	-- json --               the body as application/json
//	-- html --               the body as text/html
//	-- status CODE [HEADER=VALUE ...] --    the body as JSON with that status
//
// After reply, sse, json and html may stand: bytewise (each byte is flushed by
// itself) and cut (the connection is closed without an end). Text before the
// first file is a comment.
package llmtest
