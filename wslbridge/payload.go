package wslbridge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Payload is the Linux binary that the launcher can bring into a distro.
type Payload struct {
	SHA256 string // lower-case hex
	Size   int64  // bytes
	Open   func() (io.ReadCloser, error)
}

// ErrNotForMachine is the cause for a file that is no Linux program for the processor in use.
var ErrNotForMachine = errors.New("not a Linux program for this processor")

// ReadPayload takes the file at path, which must be an ELF program for arch, a GOARCH. A shell
// inside WSL might take a program for another processor for a script, so it never gets there.
func ReadPayload(path, arch string) (*Payload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the Linux binary: %w", err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, elfMachineOffset+2)
	if _, err := io.ReadFull(f, head); err != nil || elfArch(head) != arch {
		return nil, fmt.Errorf("read the Linux binary %s: %w (%s)", path, ErrNotForMachine, arch)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the Linux binary: %w", err)
	}
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return nil, fmt.Errorf("read the Linux binary: %w", err)
	}
	return &Payload{
		SHA256: hex.EncodeToString(hash.Sum(nil)),
		Size:   size,
		Open:   func() (io.ReadCloser, error) { return os.Open(path) },
	}, nil
}

const elfMachineOffset = 18 // of e_machine in the ELF header

// elfArch returns the GOARCH of a little-endian 64-bit ELF header, or "".
func elfArch(head []byte) string {
	if string(head[:6]) != "\x7fELF\x02\x01" {
		return ""
	}
	switch binary.LittleEndian.Uint16(head[elfMachineOffset:]) {
	case 62:
		return "amd64"
	case 183:
		return "arm64"
	}
	return ""
}
