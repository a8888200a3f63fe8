package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a key. It prints, logs and marshals as "[redacted]"; only the
// conversion string(secret) reveals it.
type Secret string

const redacted = "[redacted]"

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.redacted()) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.redacted()) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.redacted()), nil }

func (s Secret) redacted() string {
	if s == "" {
		return ""
	}
	return redacted
}
