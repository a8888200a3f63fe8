//go:build unix

package wslbridgetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
)

// Broker runs the job that the wsl.exe listening at address has. When that process dies, the job is
// hung up, unless it is an orphan.
func Broker(address string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	defer func() { _ = conn.Close() }()
	packets := bufio.NewReaderSize(conn, 1<<20)
	kind, content, err := readPacket(packets)
	if err != nil || kind != packetJob {
		return fmt.Errorf("broker: no job came: %w", err)
	}
	var job Job
	if err := json.Unmarshal(content, &job); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	var mu sync.Mutex
	to := func(kind byte) packetWriter { return packetWriter{kind: kind, mu: &mu, to: conn} }
	running, err := startJob(job)
	code := 1
	if err != nil {
		fmt.Fprintf(to(packetStderr), "<3>WSL (1) ERROR: CreateProcessEntryCommon:502: execvpe %s failed: %v\n", job.Argv[0], err)
	} else {
		stdin, feed := io.Pipe()
		go func() {
			if !feedStdin(packets, feed) && !job.Orphan {
				_ = syscall.Kill(-running.Process.Pid, syscall.SIGHUP)
			}
		}()
		code = running.relay(stdin, to(packetStdout), to(packetStderr))
	}
	_, err = to(packetExit).Write(binary.LittleEndian.AppendUint32(nil, uint32(code)))
	return err
}

// feedStdin reports false when the other end is gone.
func feedStdin(packets *bufio.Reader, stdin *io.PipeWriter) bool {
	defer func() { _ = stdin.Close() }()
	for {
		kind, content, err := readPacket(packets)
		switch {
		case err != nil:
			return false
		case kind == packetStdin:
			if _, err := stdin.Write(content); err != nil {
				return true
			}
		case kind == packetStdinEnd:
			_ = stdin.Close()
		}
	}
}
