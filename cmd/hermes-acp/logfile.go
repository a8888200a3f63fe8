package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Logs go to stderr, which editors show, and to a file, which is still there
// when the editor is gone. They carry no prompt text, no file content, no keys.
const (
	logFileLimit = 5 << 20 // bytes, then the file becomes NAME.1
	logFileMode  = 0o600
	logDirMode   = 0o700
)

// logFile is an append-only file that is opened at its first line and set aside
// when it has grown past logFileLimit. What cannot be written is dropped: a full
// disk must not end a session.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size+int64(len(line)) > logFileLimit {
		l.close()
	}
	if l.file == nil && l.open() != nil {
		return len(line), nil
	}
	n, _ := l.file.Write(line)
	l.size += int64(n)
	return len(line), nil
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), logDirMode); err != nil {
		return err
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() >= logFileLimit*9/10 {
		// Another process may hold the file open, which Windows refuses to
		// rename: then it grows until that process has gone.
		_ = os.Rename(l.path, l.path+".1")
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logFileMode)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

func (l *logFile) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

// close needs mu. Every line was written when Write returned, so its error
// tells nothing new.
func (l *logFile) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// patientWriter hands lines to a writer that may block for ever, such as the
// stderr of an editor that never reads it, and drops what does not fit.
type patientWriter struct {
	lines chan []byte
	done  chan struct{}
}

func newPatientWriter(w io.Writer) *patientWriter {
	p := &patientWriter{lines: make(chan []byte, 256), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for line := range p.lines {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}()
	return p
}

func (p *patientWriter) Write(line []byte) (int, error) {
	select {
	case p.lines <- append([]byte(nil), line...):
	default:
	}
	return len(line), nil
}

// Close writes what is left, for a moment.
func (p *patientWriter) Close() {
	close(p.lines)
	select {
	case <-p.done:
	case <-time.After(200 * time.Millisecond):
	}
}

// newLogger logs to stderr and to a file named after the program in dir. Close
// it last.
func newLogger(stderr io.Writer, dir string) (log *slog.Logger, file string, closeLog func()) {
	out := newPatientWriter(stderr)
	lf := &logFile{path: filepath.Join(dir, "hermes-acp.log")}
	log = slog.New(slog.NewTextHandler(io.MultiWriter(out, lf), nil)).With("pid", os.Getpid())
	return log, lf.path, func() {
		lf.Close()
		out.Close()
	}
}
