package wslbridgetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// runJob lets a broker run the job. Under Wine a program of Linux can be started, but neither its
// pipes nor its end can be had, so the two talk over loopback.
func runJob(job Job, broker string, stdin io.Reader, stdout, stderr io.Writer) int {
	code, err := runThroughBroker(job, broker, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "wslsim:", err)
		return 1
	}
	return code
}

func runThroughBroker(job Job, broker string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	process, err := os.StartProcess(broker, []string{broker, listener.Addr().String()}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}})
	if err != nil {
		return 0, fmt.Errorf("start the broker: %w", err)
	}
	_ = process.Release()
	if tcp, ok := listener.(*net.TCPListener); ok {
		_ = tcp.SetDeadline(time.Now().Add(20 * time.Second))
	}
	conn, err := listener.Accept()
	if err != nil {
		return 0, fmt.Errorf("wait for the broker: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var mu sync.Mutex
	to := func(kind byte) packetWriter { return packetWriter{kind: kind, mu: &mu, to: conn} }
	text, err := json.Marshal(job)
	if err != nil {
		return 0, err
	}
	if _, err := to(packetJob).Write(text); err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(to(packetStdin), stdin)
		_, _ = to(packetStdinEnd).Write(nil)
	}()
	packets := bufio.NewReaderSize(conn, 1<<20)
	for {
		kind, content, err := readPacket(packets)
		if err != nil {
			return 0, fmt.Errorf("the broker is gone: %w", err)
		}
		switch kind {
		case packetStdout:
			if _, err := stdout.Write(content); err != nil {
				return 1, nil // nobody reads wsl.exe's output any more
			}
		case packetStderr:
			_, _ = stderr.Write(content)
		case packetExit:
			return int(binary.LittleEndian.Uint32(content)), nil
		}
	}
}
