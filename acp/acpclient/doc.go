// Package acpclient is the client side of the Agent Client Protocol: it starts
// an agent, opens sessions, sends prompts, and hands over what the agent reports
// and asks. The run and demo commands and every end-to-end test use it.
//
// A client of this package offers the agent neither its file system nor its
// terminals.
package acpclient
