// Package wslbridge lets a Windows editor use an ACP agent that lives inside WSL as if it were
// local. It works on raw frames, one JSON-RPC message a line, and knows no ACP library.
//
//	editor <-stdio-> Launcher (Windows) <-pipes-> wsl.exe <-> sh bootstrap, then Host (Linux) <-> agent
//
// The [Launcher] chooses the distro, starts one wsl.exe, provisions the Linux binary when it is
// missing and then only moves bytes. The [Host] runs the rewrite stage in front of the agent,
// which is either served in-process or a command.
//
// # The wire between launcher and host
//
// Child stdout, in order: noise (anything; it goes to the launcher's stderr, decoded), then at most
// one bootstrap line asking for the binary, then exactly one [Hello] line, then ACP frames.
//
// Child stdin, in order: the binary if it was asked for, nothing else before hello; then exactly
// one [Preamble] line, then ACP frames with a blank line (the heartbeat) every 10 s between them.
//
// # Who owns which goroutine
//
// Launcher.Run starts and awaits, for each wsl.exe that it starts: one that reads its stdout (the
// gate, then the outbound pump), one that reads its stderr, one that waits for its end, one for the
// heartbeat. For the whole run it starts: one that reads the editor's stdin (the inbound pump) and
// one each that empties the stdout and the stderr spool into the editor. The pumps share no lock.
// The reader of the editor's stdin is the only one that Run does not await, for a blocked read of
// a console or pipe cannot be interrupted on Windows; it ends with its input or the process.
//
// Host.Run starts and awaits: the agent, the pump in each direction when the agent is a command,
// the watch for death. Its reader of stdin ends with its input, as above.
//
// # End of file
//
//   - The editor closes stdin, or its stdout is gone: the launcher closes the child's stdin.
//   - The host reads end of file: it closes the agent's stdin, asks it to end after 1 s (SIGTERM, or
//     the context of an in-process agent), kills its process group after 2 s, and is gone within 4 s.
//   - After 8 s the launcher ends the job with everything in it.
//   - The child ends by itself: the launcher hands the editor everything that the child wrote, then
//     returns the child's exit code.
//   - The launcher dies: its job object kills wsl.exe, and the host sees end of file, SIGHUP, EPIPE, a
//     new parent or 45 s without a byte, whichever comes first. It then does as after end of file.
package wslbridge
