package wslbridgetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"
	"unicode/utf16"
)

// Job is the command that wsl.exe starts inside the distro.
type Job struct {
	Argv   []string `json:"argv"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Orphan bool     `json:"orphan"`

	Drives map[string]string `json:"drives"`
}

// exitFailure is the code of every error of wsl.exe itself, -1.
const exitFailure = 0xFFFFFFFF

// failure is an error of wsl.exe itself.
type failure struct {
	message string
	id      string // "" for those that have none
}

// Main is the program wsl.exe. It returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	config, err := readConfig()
	if err != nil {
		fmt.Fprintln(stderr, "wslsim:", err)
		return 2
	}
	wsl := &program{config: config, stdin: stdin, stdout: stdout, stderr: stderr}
	return wsl.run(args)
}

type program struct {
	config         Config
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (p *program) run(args []string) int {
	call := Invocation{PID: os.Getpid(), Args: args, Env: os.Environ()}
	call.Dir, _ = os.Getwd()
	time.Sleep(time.Duration(p.config.StartDelayMillis) * time.Millisecond)
	command, distro, fail := p.parse(args)
	if fail != nil {
		p.record(call)
		return p.fail(*fail)
	}
	if command == nil {
		p.record(call)
		return 0
	}
	job := Job{Argv: command, Env: p.innerEnv(distro), Dir: distro.Home, Orphan: p.config.Orphan, Drives: p.config.Drives}
	call.Command, call.Inner = job.Argv, job.Env
	p.record(call)
	if p.config.Hang {
		_, _ = io.Copy(io.Discard, p.stdin)
		return 1
	}
	if p.config.FailID != "" {
		return p.fail(failure{message: p.config.FailMessage, id: p.config.FailID})
	}
	_, _ = io.WriteString(p.stderr, p.config.BannerStderr)
	_, _ = io.WriteString(p.stdout, p.config.BannerStdout)
	out := p.stdout
	if p.config.DieAfterBytes > 0 {
		out = &dyingWriter{w: p.stdout, left: p.config.DieAfterBytes}
	}
	if p.config.CrashAfterBytes > 0 {
		out = &crashingWriter{program: p, left: p.config.CrashAfterBytes}
	}
	switch code := runJob(job, p.config.Broker, p.stdin, out, p.stderr); code {
	case 67:
		return p.fail(failure{message: "User not found."})
	case 87:
		return p.fail(failure{message: "The TTY limit was reached."})
	default:
		return code
	}
}

// parse follows the real one: options until the first word that is none, names taken literally.
func (p *program) parse(args []string) (command []string, distro Distro, fail *failure) {
	usage := &failure{message: "Invalid command line argument: " + strings.Join(args, " "), id: "Wsl/E_INVALIDARG"}
	name := ""
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		switch option {
		case "-d", "--distribution", "--distribution-id":
			if len(args) == 0 || name != "" {
				return nil, Distro{}, usage
			}
			name, args = args[0], args[1:]
		case "-u", "--user", "--cd":
			if len(args) == 0 || option == "--cd" && p.config.RefuseCD {
				return nil, Distro{}, usage
			}
			args = args[1:]
		case "-l", "--list":
			p.list(args)
			return nil, Distro{}, nil
		case "-e", "--exec":
			if len(args) == 0 {
				return nil, Distro{}, usage
			}
			distro, fail = p.find(name)
			return args, distro, fail
		case "--":
			distro, fail = p.find(name)
			return []string{"/bin/sh", "-c", strings.Join(args, " ")}, distro, fail
		default:
			if strings.HasPrefix(option, "-") {
				return nil, Distro{}, usage
			}
			distro, fail = p.find(name)
			return []string{"/bin/sh", "-c", strings.Join(append([]string{option}, args...), " ")}, distro, fail
		}
	}
	distro, fail = p.find(name)
	return []string{"/bin/sh", "-l"}, distro, fail
}

func (p *program) find(name string) (Distro, *failure) {
	for _, d := range p.config.Distros {
		if name == "" && d.Default || strings.EqualFold(name, d.Name) || d.GUID != "" && strings.EqualFold(name, d.GUID) {
			return d, nil
		}
	}
	if name == "" {
		return Distro{}, &failure{message: "Windows Subsystem for Linux has no installed distributions."}
	}
	return Distro{}, &failure{message: "There is no distribution with the supplied name.", id: "Wsl/Service/WSL_E_DISTRO_NOT_FOUND"}
}

func (p *program) list(options []string) {
	quiet := len(options) > 0 && (options[0] == "-q" || options[0] == "--quiet")
	var text strings.Builder
	if !quiet {
		text.WriteString("Windows Subsystem for Linux Distributions:\n")
	}
	for _, d := range p.config.Distros {
		text.WriteString(d.Name)
		if d.Default && !quiet {
			text.WriteString(" (Default)")
		}
		text.WriteString("\n")
	}
	p.say(text.String())
}

func (p *program) fail(f failure) int {
	text := f.message + "\n"
	if f.id != "" {
		text += "Error code: " + f.id + "\n"
	}
	p.say(text)
	if p.config.FailExit != 0 {
		return p.config.FailExit
	}
	return exitFailure
}

// say prints a text of wsl.exe itself: to stdout even for errors, UTF-16LE unless told otherwise.
func (p *program) say(text string) {
	text = strings.ReplaceAll(text, "\n", "\r\n")
	if os.Getenv("WSL_UTF8") == "1" && !p.config.IgnoreUTF8 {
		_, _ = io.WriteString(p.stdout, text)
		return
	}
	var wide []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	_, _ = p.stdout.Write(wide)
}

func (p *program) record(call Invocation) {
	if p.config.Log == "" {
		return
	}
	line, err := json.Marshal(call)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(p.config.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(p.stderr, "wslsim: log:", err)
	}
}

const plainPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/usr/local/games:/usr/lib/wsl/lib"

// innerEnv is the environment inside: what WSL sets, and what WSLENV names.
func (p *program) innerEnv(d Distro) []string {
	path := d.Path
	if path == "" {
		path = plainPath
	}
	env := []string{
		"HOSTTYPE=x86_64", "LANG=C.UTF-8", "PATH=" + path, "TERM=xterm-256color", "NAME=simulated",
		"HOME=" + d.Home, "USER=u", "LOGNAME=u", "SHELL=/bin/sh",
		"WSL_DISTRO_NAME=" + d.Name, "WSL_INTEROP=/run/WSL/1_interop",
		"WSLENV=" + os.Getenv("WSLENV"),
	}
	for entry := range strings.SplitSeq(os.Getenv("WSLENV"), ":") {
		name, flags, _ := strings.Cut(strings.TrimRight(entry, " \t"), "/")
		if name == "" || strings.Trim(flags, "pluw") != "" || strings.Contains(flags, "w") {
			continue
		}
		value := os.Getenv(name)
		if strings.ContainsAny(flags, "pl") {
			if value = linuxList(value); value == "" {
				continue
			}
		}
		env = append(env, name+"="+value)
	}
	return env
}

// linuxList translates a ;-separated list of drive paths and drops what is not one.
func linuxList(value string) string {
	var list []string
	for path := range strings.SplitSeq(value, ";") {
		if len(path) > 2 && path[1] == ':' {
			list = append(list, "/mnt/"+strings.ToLower(path[:1])+strings.ReplaceAll(path[2:], `\`, "/"))
		}
	}
	return strings.Join(list, ":")
}

// dyingWriter ends the process when enough was written, as if wsl.exe had been killed.
type dyingWriter struct {
	w    io.Writer
	left int64
}

func (d *dyingWriter) Write(p []byte) (int, error) {
	if int64(len(p)) < d.left {
		d.left -= int64(len(p))
		return d.w.Write(p)
	}
	_, _ = d.w.Write(p[:d.left])
	os.Exit(1) //nolint:revive // as a killed process does
	return 0, nil
}

// crashingWriter ends the process with an error of wsl.exe at a line end once enough was written.
type crashingWriter struct {
	program *program
	left    int64
}

func (c *crashingWriter) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n')
	if c.left -= int64(len(p)); c.left > 0 || end < 0 {
		return c.program.stdout.Write(p)
	}
	_, _ = c.program.stdout.Write(p[:end+1])
	code := c.program.fail(failure{message: "The instance has terminated.", id: "Wsl/Service/WSL_E_VM_CRASHED"})
	os.Exit(code & 0xFF) //nolint:revive // Linux knows one byte of -1
	return 0, nil
}

func splitLines(text string) iter.Seq[string] {
	return strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n")
}
