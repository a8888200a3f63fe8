package pathxlate

import "strings"

// Roots remembers how a client spelled the folders it works in, so that what goes
// out to it is spelled its own way. The zero value remembers none. Roots may be
// copied to be added to; it is not safe to add while others read.
type Roots struct {
	roots []root
	// How the newest root of Windows was spelled.
	lowerDrive bool   // c: instead of C:
	wslHost    string // "wsl$" or "wsl.localhost" in any case, "" when none was seen
	remote     string // "vscode-remote://wsl+Distro", "" for a path
	windows    bool   // there is one
}

type root struct {
	spelling string
	linux    string
	windows  bool // the names below it are names of Windows
}

// Add remembers that the client wrote spelling for the folder that ToLinux calls
// linux. A later spelling of the same folder takes the place of an earlier one.
func (r *Roots) Add(spelling, linux string) {
	loc, err := parse(spelling, false)
	isWindows := err == nil && loc.anchor != anchorLinux
	added := root{spelling: spelling, linux: linux, windows: isWindows && loc.form != FormRemoteURI}

	kept := make([]root, 0, len(r.roots)+1)
	for _, old := range r.roots {
		if old.linux != linux {
			kept = append(kept, old)
		}
	}
	r.roots = append(kept, added)

	if !isWindows {
		return
	}
	r.windows = true
	r.remote = ""
	if loc.form == FormRemoteURI {
		r.remote, _ = splitRemote(spelling)
	}
	switch {
	case loc.anchor == anchorDrive:
		r.lowerDrive = loc.drive != upper(loc.drive)
	case isWSLHost(loc.host):
		r.wslHost = loc.host
	}
}

// Outbound returns the path that the client is shown for an absolute Linux path:
// below the longest root that holds it, that root exactly as the client spelled
// it and the rest with its separators; elsewhere what ToWindows says, in the
// client's case of drive letters and with its name of the WSL host. A client
// whose roots are all POSIX paths gets POSIX paths. The error is an *Error.
func (r *Roots) Outbound(t Translator, p string) (string, error) {
	shown, err := r.outbound(&t, p)
	return t.result(OpToWindows, p, shown, err)
}

// OutboundURI returns the URI that the client is shown for the file URI of a Linux
// path: that of what Outbound says. ?query#fragment is kept byte for byte, and so
// is a URI that needs no change. The error is an *Error.
func (r *Roots) OutboundURI(t Translator, uri string) (string, error) {
	shown, err := r.outboundURI(&t, uri)
	return t.result(OpURIToWindows, uri, shown, err)
}

func (r *Roots) outbound(t *Translator, p string) (string, *Error) {
	loc, err := parse(p, false)
	if err != nil || loc.anchor != anchorLinux {
		windows, _, err := t.toWindows(p)
		return windows, err
	}
	return r.show(t, loc.rest)
}

func (r *Roots) outboundURI(t *Translator, uri string) (string, *Error) {
	base, suffix := splitSuffix(uri)
	loc, err := parse(base, false)
	if err != nil || loc.anchor != anchorLinux {
		windows, _, err := t.uriToWindows(uri)
		return windows, err
	}
	shown, err := r.show(t, loc.rest)
	if err != nil || shown == loc.rest {
		return uri, err
	}
	if FormOf(shown).IsURI() {
		return shown + suffix, nil
	}
	spelled, err := parsePath(FormOf(shown), shown)
	if err != nil {
		return "", err
	}
	if spelled.anchor == anchorLinux {
		return "file://" + string(appendPercent(nil, shown)) + suffix, nil
	}
	windows, _, err := t.appendWindows(nil, &spelled)
	return string(appendWindowsURI(nil, windows)) + suffix, err
}

// show returns what the client is shown for a clean Linux path.
func (r *Roots) show(t *Translator, linux string) (string, *Error) {
	found, ok := r.find(linux)
	switch {
	case ok:
		return found.spell(below(linux, found.linux)), nil
	case !r.windows && len(r.roots) > 0:
		return linux, nil
	case r.remote != "":
		return r.remote + string(appendPercent(nil, linux)), nil
	}
	windows, _, err := t.toWindows(linux)
	return r.restyle(windows), err
}

// find returns the longest root that holds the clean Linux path p.
func (r *Roots) find(p string) (found root, ok bool) {
	for _, candidate := range r.roots {
		if len(candidate.linux) > len(found.linux) && isUnder(p, candidate.linux) {
			found, ok = candidate, true
		}
	}
	return found, ok
}

// spell returns the path below the root at rest, "" or "/a/b", in the spelling of
// the root.
func (r root) spell(rest string) string {
	if rest == "" {
		return r.spelling
	}
	var stack [stackPath]byte
	spelled := append(stack[:0], strings.TrimRight(r.spelling, `/\`)...)
	switch form := FormOf(r.spelling); {
	case form == FormFileURI && r.windows:
		spelled = appendPercent(spelled, appendWindowsNames(nil, rest))
	case form.IsURI():
		spelled = appendPercent(spelled, rest)
	case r.windows:
		root := len(spelled)
		spelled = appendWindowsNames(spelled, rest)
		replaceSlashes(spelled[root:], r.separator())
	default:
		spelled = append(spelled, rest...)
	}
	return string(spelled)
}

// separator returns the separator that a Windows spelling uses last.
func (r root) separator() byte {
	if i := strings.LastIndexAny(r.spelling, `/\`); i >= 0 {
		return r.spelling[i]
	}
	return '\\'
}

// restyle gives a Windows path of ToWindows the client's drive letter case and
// WSL host.
func (r *Roots) restyle(windows string) string {
	const host = `\\wsl.localhost`
	switch {
	case r.lowerDrive && startsWithDrive(windows):
		return string(lower(windows[0])) + windows[1:]
	case r.wslHost != "" && strings.HasPrefix(windows, host+`\`):
		return `\\` + r.wslHost + windows[len(host):]
	}
	return windows
}
