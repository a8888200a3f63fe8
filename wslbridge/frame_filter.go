package wslbridge

import (
	"bytes"
	"io"
)

// frameFilter passes lines that begin as JSON does and hands all others to noise. After hello only
// wsl.exe itself writes such lines: its errors go to stdout too, as when the virtual machine crashes.
type frameFilter struct {
	frames, noise io.Writer

	inLine bool
	noisy  bool // the current line is noise
}

// Write passes on any pieces, frames of one call in one write unless noise parts them.
func (f *frameFilter) Write(p []byte) (int, error) {
	run := 0 // where the bytes that go the same way begin
	for at := 0; at < len(p); {
		if !f.inLine {
			if noisy := !beginsFrame(p[at]); noisy != f.noisy {
				if err := f.pass(p[run:at]); err != nil {
					return run, err
				}
				run, f.noisy = at, noisy
			}
		}
		end := bytes.IndexByte(p[at:], '\n')
		if f.inLine = end < 0; f.inLine {
			break
		}
		at += end + 1
	}
	if err := f.pass(p[run:]); err != nil {
		return run, err
	}
	return len(p), nil
}

func (f *frameFilter) pass(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	to := f.frames
	if f.noisy {
		to = f.noise
	}
	_, err := to.Write(p)
	return err
}

// beginsFrame reports whether a line that begins with c may be JSON: an object or array, white space
// in front of it, or a byte order mark.
func beginsFrame(c byte) bool {
	switch c {
	case '{', '[', ' ', '\t', '\r', '\n', 0xEF:
		return true
	}
	return false
}
