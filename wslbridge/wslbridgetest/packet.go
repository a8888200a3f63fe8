package wslbridgetest

import (
	"bufio"
	"encoding/binary"
	"io"
	"sync"
)

// Kinds of packets between the Windows build of wsl.exe and the broker: one byte of kind, four bytes
// of length (little-endian), the content.
const (
	packetJob      = 'j' // JSON Job, first
	packetStdin    = 'i'
	packetStdinEnd = 'e'
	packetStdout   = 'o'
	packetStderr   = '2'
	packetExit     = 'x' // exit code, four bytes, last
)

// packetWriter writes packets of one kind.
type packetWriter struct {
	kind byte
	mu   *sync.Mutex
	to   io.Writer
}

func (p packetWriter) Write(content []byte) (int, error) {
	packet := binary.LittleEndian.AppendUint32([]byte{p.kind}, uint32(len(content)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.to.Write(append(packet, content...)); err != nil {
		return 0, err
	}
	return len(content), nil
}

func readPacket(r *bufio.Reader) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	content = make([]byte, binary.LittleEndian.Uint32(head[1:]))
	_, err = io.ReadFull(r, content)
	return head[0], content, err
}
