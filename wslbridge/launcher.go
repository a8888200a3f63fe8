package wslbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"time"
)

const (
	spoolBytes       = 16 << 20 // of output that a slow editor has not read
	stderrSpoolBytes = 1 << 20
	// shutdownPatience is how long the launcher waits, after the editor has closed its end, before
	// it ends the job.
	shutdownPatience = 8 * time.Second
	firstFrameWait   = 2 * time.Second
)

// Launcher is the Windows end of the bridge: it gives an editor on stdio an agent inside WSL.
type Launcher struct {
	WSL       string   // absolute path of wsl.exe
	SystemDir string   // folder that wsl.exe is started in; a plain local one, since a UNC one makes it complain (zed#38337)
	Version   string   // of this program; a Linux binary of the same version is used as it is
	Payload   *Payload // nil when there is no Linux binary to send

	Registered Registered
	Distro     Wish
	User       string // Linux user; "" means the distro's default
	WorkDir    string // this process's, a hint at the distro

	HostArgs []string          // arguments of hermes-acp inside WSL, "bridge-host" first
	Environ  []string          // of this process
	EnvNames []string          // variables to forward, from --env
	Drives   map[string]string // targets of mapped and SUBST drives, by upper-case letter
	Command  []string          // this process's command line, for the agent's ways to log in

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Log            *slog.Logger

	helloTimeout time.Duration // tests shorten it; 0 means defaultHelloTimeout
}

// ErrShutdownTimeout is the cause when the agent did not end after the editor had closed its end.
var ErrShutdownTimeout = errors.New("the agent inside WSL did not end and was killed")

// Run serves the editor until it closes its end or the agent ends. The code is what the process
// should exit with; err says why when it is not 0. The goroutine that reads Stdin may outlive Run.
func (l *Launcher) Run(ctx context.Context) (code int, err error) {
	out, diagnostics := newSpool(spoolBytes, false), newSpool(stderrSpoolBytes, true)
	toEditor, toPerson := drain(out, l.Stdout), drain(diagnostics, l.Stderr)
	s := &session{
		Launcher:    l,
		out:         out,
		diagnostics: diagnostics,
		opening:     newOpening(out),
		editorGone:  toEditor.done,
	}
	s.editor = readEditor(l.Stdin, func(reply []byte) { _, _ = out.Write(append(reply, '\n')) })
	code, err = s.run(ctx)
	if err != nil {
		s.answerWaiting(err)
	}
	close(s.editor.stop)
	out.end()
	toEditor.await(s.readPatience())
	if lost := diagnostics.lostBytes(); lost > 0 {
		l.Log.WarnContext(ctx, "stderr of the agent was lost, since the editor did not read it", "bytes", lost)
	}
	diagnostics.end()
	toPerson.await(time.Second)
	return code, err
}

// session is one run of a launcher.
type session struct {
	*Launcher
	out, diagnostics *spool
	opening          *opening
	editor           *editorInput
	editorGone       <-chan struct{} // its stdout is closed
	replaced         []*link         // begun in another distro than the one that was wanted
}

// readPatience is how long an editor that reads nothing is waited for. One that has closed its end is
// leaving.
func (s *session) readPatience() time.Duration {
	select {
	case <-s.editor.closed:
		return time.Second
	default:
		return shutdownPatience
	}
}

func (s *session) run(ctx context.Context) (int, error) {
	distro, fixed, err := s.Registered.choose(s.Distro, s.WorkDir)
	if err != nil {
		return 1, err
	}
	link, err := s.start(distro)
	if err != nil {
		return 1, err
	}
	link, closing := s.open(ctx, link, fixed)
	if !closing {
		s.editor.stream <- link.input
		closing = s.awaitClosing(ctx, link)
	}
	code, err := s.finish(link, closing)
	for _, old := range s.replaced {
		<-old.ended
	}
	return code, err
}

func (s *session) start(distro Distro) (*link, error) {
	if distro.Version == 1 {
		fmt.Fprintf(s.diagnostics, "hermes-acp: %s runs under WSL 1, which is not tested; to change that, in PowerShell run: wsl --set-version %s 2\n", distro.Name, distro.Name)
	}
	p, err := s.startHost(distro)
	if err != nil {
		return nil, err
	}
	return s.startLink(p, distro, s.opening.newAgent(), s.diagnostics), nil
}

func (l *Launcher) startHost(distro Distro) (*process, error) {
	args := append(append(l.selectors(distro), "--exec"), bootstrapArgs(l.Payload, l.Version, l.HostArgs)...)
	l.Log.Info("starting wsl.exe", "distro", distro.Name)
	p, err := startProcess(l.WSL, args, childEnviron(l.Environ, l.EnvNames), l.SystemDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; is WSL installed? In PowerShell run: wsl --install", err)
	}
	return p, err
}

func (l *Launcher) selectors(distro Distro) []string {
	args := distro.selector()
	if l.User != "" {
		args = append(args, "-u", l.User)
	}
	return args
}

// open leads the conversation until bytes need only be moved: hello has come and the distro is
// certain. closing reports that it came to an end instead.
func (s *session) open(ctx context.Context, current *link, certain bool) (_ *link, closing bool) {
	ready := false
	editorClosed := s.editor.closed
	var deadline <-chan time.Time // set once the editor has closed its end
	for {
		select {
		case frame := <-s.editor.frames:
			r, _ := parseRequest(frame)
			roomForMore := s.opening.add(frame, r)
			if !certain && r.namesFolder() {
				if next := s.elsewhere(r, current); next != nil {
					current, ready = next, false
				}
				certain = true
			}
			certain = certain || !roomForMore
		case <-current.hello:
			ready = true
			current.converse(Preamble{Launcher: WireVersion, Drives: s.Drives, Command: s.Command})
		case <-editorClosed:
			editorClosed = nil
			deadline = time.After(shutdownPatience)
		case <-current.exited:
			return current, deadline != nil
		case <-s.editorGone:
			return current, true
		case <-ctx.Done():
			return current, true
		case <-deadline:
			return current, true
		}
		if !ready {
			continue
		}
		_, _ = current.input.Write(s.opening.unsent()) // a child that is gone is noticed above
		if deadline != nil {
			return current, true
		}
		if certain {
			s.opening.end()
			return current, false
		}
	}
}

// elsewhere begins again in the distro that the request's folder lies in, if that is another one.
func (s *session) elsewhere(r sessionRequest, current *link) *link {
	name, ok := distroOf(r.Params.Cwd, s.Drives)
	if !ok || strings.EqualFold(name, current.distro.Name) {
		return nil
	}
	distro, ok := s.Registered.find(name)
	if !ok {
		return nil // the rewrite stage names both distros in its answer
	}
	s.Log.Info("the folder lies in another distro, starting again there", "distro", distro.Name, "instead_of", current.distro.Name)
	next, err := s.start(distro)
	if err != nil {
		s.Log.Error("cannot start again", "distro", distro.Name, "err", err)
		return nil
	}
	current.input.close()
	current.process.kill()
	s.replaced = append(s.replaced, current)
	return next
}

func (s *session) awaitClosing(ctx context.Context, l *link) bool {
	select {
	case <-l.exited:
		return false
	case <-s.editor.closed:
	case <-s.editorGone:
	case <-ctx.Done():
	}
	return true
}

// finish waits for the end of the child, which gets shutdownPatience if the editor is gone.
func (s *session) finish(l *link, closing bool) (int, error) {
	killed := false
	if closing {
		l.input.close()
		patience := time.AfterFunc(shutdownPatience, l.process.kill)
		<-l.exited
		killed = !patience.Stop()
	}
	<-l.ended
	s.opening.flush()
	code := l.exitCode
	switch {
	case killed:
		return 1, fmt.Errorf("%w (%v after the editor had closed its end)", ErrShutdownTimeout, shutdownPatience)
	case l.failure != nil:
		return 1, l.failure
	case code == 0:
		return 0, nil
	case uint32(code) == exitWSL || wslErrorID(l.noise.text()) != "":
		return 1, diagnose(l.noise.text(), code, l.distro.Name)
	default:
		return code, fmt.Errorf("the agent inside %s ended with status %d", l.distro.Name, code)
	}
}

// answerWaiting tells the editor, by the protocol, why there is no agent. Its first request comes
// within moments of the start.
func (s *session) answerWaiting(err error) {
	if s.opening.awaitsClient() {
		select {
		case frame := <-s.editor.frames:
			r, _ := parseRequest(frame)
			s.opening.add(frame, r)
		case <-s.editor.closed:
		case <-time.After(firstFrameWait):
		}
	}
	s.opening.fail(err)
}

// drainer empties a spool into a writer that may be slow or stuck.
type drainer struct {
	done     chan struct{}
	progress chan struct{}
}

func drain(s *spool, w io.Writer) *drainer {
	d := &drainer{done: make(chan struct{}), progress: make(chan struct{}, 1)}
	go func() {
		defer close(d.done)
		_ = s.drainTo(w, func() { // the spool's writers learn of the error
			select {
			case d.progress <- struct{}{}:
			default:
			}
		})
	}()
	return d
}

// await waits until the spool has ended and is empty, or until nothing moved for patience.
func (d *drainer) await(patience time.Duration) {
	for {
		select {
		case <-d.done:
			return
		case <-d.progress:
		case <-time.After(patience):
			return
		}
	}
}
