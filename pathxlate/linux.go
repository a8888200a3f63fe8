package pathxlate

import "strings"

func (t *Translator) toLinux(p string) (string, Rule, *Error) {
	loc, err := parse(p, t.MSYS)
	if err != nil {
		return "", RuleNone, err
	}
	if loc.anchor == anchorLinux { // may be p itself
		return loc.rest, RuleLinuxPath, checkLength(len(loc.rest))
	}
	var stack [stackPath]byte
	linux, rule, err := t.appendLinuxPath(stack[:0], &loc)
	if err != nil {
		return "", RuleNone, err
	}
	return string(linux), rule, nil
}

func (t *Translator) uriToLinux(uri string) (string, Rule, *Error) {
	base, suffix := splitSuffix(uri)
	loc, err := parse(base, t.MSYS)
	if err != nil {
		return "", RuleNone, err
	}
	var pathStack, uriStack [stackPath]byte
	linux, rule, err := t.appendLinuxPath(pathStack[:0], &loc)
	switch {
	case err != nil:
		return "", RuleNone, err
	case rule == RuleLinuxPath && hasPrefixFold(base, "file:///"):
		return uri, rule, nil
	}
	translated := append(uriStack[:0], "file://"...)
	translated = appendPercent(translated, linux)
	return string(append(translated, suffix...)), rule, nil
}

// appendLinuxPath appends the Linux path of a location to dst, which is empty.
func (t *Translator) appendLinuxPath(dst []byte, loc *location) (linux []byte, rule Rule, err *Error) {
	followed, err := t.followDrives(loc)
	if err != nil {
		return dst, RuleNone, err
	}
	switch loc.anchor {
	case anchorLinux:
		linux, rule = append(dst, loc.rest...), RuleLinuxPath
	case anchorDistro:
		rule = RuleDistro
		linux, err = t.appendDistroPath(dst, loc)
	case anchorDrive, anchorShare:
		linux, rule, err = t.appendMountedPath(dst, loc)
	}
	if err == nil {
		err = checkLength(len(linux))
	}
	if followed {
		rule = RuleDriveTarget
	}
	return linux, rule, err
}

// followDrives moves a location on a drive that is not mounted and has a target to
// the same place below that target, and reports whether it did.
func (t *Translator) followDrives(loc *location) (followed bool, err *Error) {
	mounts := t.Mounts
	for loc.anchor == anchorDrive {
		letter := upper(loc.drive)
		target, ok := mounts.driveTarget(letter)
		if !ok {
			break
		}
		windows, err := appendMountSource(nil, loc)
		if err != nil {
			return followed, err
		}
		if _, mounted := mounts.findWindows(windows); mounted {
			break
		}
		mounts = mounts.withoutDrive(letter)
		target += string(windows[len("C:"):])
		if *loc, err = parsePath(FormOf(target), target); err != nil {
			return followed, err
		}
		followed = true
	}
	return followed, nil
}

func checkLength(linuxPath int) *Error {
	if linuxPath > maxLinuxPath {
		return fail(ErrTooLong)
	}
	return nil
}

// appendDistroPath appends the Linux path of a location in the file system of a
// distro.
func (t *Translator) appendDistroPath(dst []byte, loc *location) ([]byte, *Error) {
	if err := t.checkDistro(loc); err != nil {
		return dst, err
	}
	if loc.form == FormRemoteURI {
		return append(dst, loc.rest...), nil
	}
	var stack [stackPath]byte
	windows, err := appendWindowsSegments(stack[:0], loc.rest)
	if err != nil {
		return dst, err
	}
	if len(windows) == 0 {
		return append(dst, '/'), nil
	}
	linux := appendLinuxNames(dst, windows)
	if len(linux) != len(windows) && !isLinuxPath(string(linux)) { // a name was unescaped
		err = ambiguous(string(linux))
	}
	return linux, err
}

// checkDistro refuses a location in another distro than this one.
func (t *Translator) checkDistro(loc *location) *Error {
	switch {
	case t.Distro == "":
		return fail(ErrNoDistro)
	case !equalFold(loc.share, t.Distro):
		return failWith(ErrOtherDistro, "it is in "+quote(loc.share)+" and this is "+quote(t.Distro)+
			": start the agent in that distro (--distro), or open the folder in this one")
	}
	return nil
}

// appendMountedPath appends the Linux path of a location on a drive or share.
func (t *Translator) appendMountedPath(dst []byte, loc *location) ([]byte, Rule, *Error) {
	var stack [stackPath]byte
	windows, err := appendMountSource(stack[:0], loc)
	if err != nil {
		return dst, RuleNone, err
	}
	if m, ok := t.Mounts.findWindows(windows); ok {
		rest := windows[len(m.windows):]
		if m.linux != "/" || len(rest) == 0 {
			dst = append(dst, m.linux...)
		}
		return append(dst, rest...), RuleMount, nil
	}
	if loc.anchor == anchorShare {
		return dst, RuleNone, failWith(ErrUNCNotMounted, t.shareRemedy(loc))
	}
	if t.Mounts.automount != "" {
		dst = append(dst, t.Mounts.automount...)
		dst = append(dst, lower(loc.drive))
		return append(dst, windows[len("C:"):]...), RuleAutomount, nil
	}
	return dst, RuleNone, failWith(ErrDriveNotMounted, t.driveRemedy(loc.drive))
}

// notWSL is the remedy where no mount command helps.
const notWSL = "this system is not WSL and has no Windows folders: give a Linux path"

// isWSL reports whether the translator knows anything of Windows.
func (t *Translator) isWSL() bool {
	return t.Distro != "" || !t.Mounts.isZero()
}

func (t *Translator) driveRemedy(letter byte) string {
	if !t.isWSL() {
		return notWSL
	}
	folder := "/mnt/" + string(lower(letter))
	return "mount it there with: sudo mkdir -p " + folder + " && sudo mount -t drvfs " + string(upper(letter)) + ": " + folder +
		" (all drives: [automount] enabled=true in /etc/wsl.conf)"
}

func (t *Translator) shareRemedy(loc *location) string {
	share := `\\` + loc.host + `\` + loc.share
	switch {
	case !t.isWSL():
		return notWSL
	case strings.Contains(share, "'") || quote(share) != `"`+share+`"`:
		return "mount it there with: sudo mount -t drvfs" // nobody should paste such a name into a shell
	}
	return "mount it there with: sudo mkdir -p /mnt/share && sudo mount -t drvfs '" + share + "' /mnt/share"
}
