package wslbridge

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
)

// bootstrap runs in the distro's /bin/sh. It needs only sh, mkdir, head, sha256sum or shasum, chmod
// and mv, so that it works in the smallest distros, and takes everything as positional parameters,
// so that no name or path is ever spliced into it.
//
//go:embed bootstrap.sh
var bootstrap string

// Lines that bootstrap writes to stdout.
const (
	bootstrapSend   = "hermes-acp-bootstrap: send"
	bootstrapFailed = "hermes-acp-bootstrap: failed "
)

// bootstrapArgs are the words after `--exec`: they run the agent with args, provisioning it first.
func bootstrapArgs(payload *Payload, version string, args []string) []string {
	sum, size := "", ""
	if payload != nil {
		sum, size = payload.SHA256, strconv.FormatInt(payload.Size, 10)
	}
	return append([]string{"/bin/sh", "-c", bootstrap, "sh", sum, size, version}, args...)
}

// Reasons for which the binary could not be brought into the distro.
var (
	ErrNoBinary     = errors.New("hermes-acp is not installed there, and this launcher carries no Linux binary")
	ErrNoSHA256Sum  = errors.New("neither sha256sum nor shasum is installed there, so a copied binary cannot be checked")
	ErrStore        = errors.New("~/.local/share/hermes-acp cannot be written")
	ErrNoSpace      = errors.New("the binary could not be written to ~/.local/share/hermes-acp; the disk may be full")
	ErrSumMismatch  = errors.New("the binary arrived damaged")
	ErrCannotRun    = errors.New("the copied binary does not run; the home directory may be mounted noexec, or the machine is of another architecture")
	errBootstrapBug = errors.New("the bootstrap failed for a reason unknown to this launcher")
)

// bootstrapError turns the word after bootstrapFailed into an error that ends in what to do.
func bootstrapError(word, distro string) error {
	inDistro := func(command string) string {
		return fmt.Sprintf("in PowerShell run: wsl -d %s -- %s", distro, command)
	}
	switch word {
	case "missing":
		return fmt.Errorf("%w; install it there, or name a binary with --linux-binary", ErrNoBinary)
	case "sha256sum":
		return fmt.Errorf("%w; install coreutils there, or hermes-acp itself in /usr/local/bin", ErrNoSHA256Sum)
	case "store":
		return fmt.Errorf("%w; %s", ErrStore, inDistro("ls -ld ~/.local ~/.local/share"))
	case "space":
		return fmt.Errorf("%w; %s", ErrNoSpace, inDistro("df -h ~"))
	case "mismatch":
		return fmt.Errorf("%w; start again, and download hermes-acp.exe anew if it stays so", ErrSumMismatch)
	case "exec":
		return fmt.Errorf("%w; %s, or install hermes-acp in /usr/local/bin there", ErrCannotRun, inDistro("findmnt -T ~"))
	default:
		return fmt.Errorf("%w: %q", errBootstrapBug, word)
	}
}
