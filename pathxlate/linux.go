package pathxlate

// Rule is how a translation came about.
type Rule string

// The rules.
const (
	RuleNone        Rule = ""                  // it did not
	RuleLinuxPath   Rule = "linux-path"        // a Linux path already
	RuleWindowsPath Rule = "windows-path"      // a Windows path already
	RuleMount       Rule = "mount"             // a mount point of the mount table
	RuleAutomount   Rule = "automount-root"    // the automount root and the drive letter
	RuleDriveTarget Rule = "drive-target"      // the target of a SUBST or mapped drive
	RuleDistro      Rule = "distro-filesystem" // \\wsl.localhost\Distro
)

func (t Translator) toLinux(p string) (string, Rule, *Error) {
	loc, err := parse(p, t.MSYS)
	if err != nil {
		return "", RuleNone, err
	}
	return t.linuxPath(loc)
}

func (t Translator) uriToLinux(uri string) (string, Rule, *Error) {
	base, suffix := splitSuffix(uri)
	linux, rule, err := t.toLinux(base)
	switch {
	case err != nil:
		return "", RuleNone, err
	case rule == RuleLinuxPath && hasPrefixFold(base, "file:///"):
		return uri, rule, nil
	}
	return linuxURI(linux) + suffix, rule, nil
}

// linuxPath returns the Linux path of a location.
func (t Translator) linuxPath(loc location) (linux string, rule Rule, err *Error) {
	switch loc.anchor {
	case anchorLinux:
		linux, rule = cleanPOSIX(loc.rest), RuleLinuxPath
	case anchorDistro:
		rule = RuleDistro
		linux, err = t.distroPath(loc)
	case anchorDrive, anchorShare:
		linux, rule, err = t.mountedPath(loc)
	}
	switch {
	case err != nil:
		return "", RuleNone, err
	case len(linux) > maxLinuxPath:
		return "", RuleNone, fail(ErrTooLong)
	}
	return linux, rule, nil
}

// distroPath returns the Linux path of a location in the file system of a distro.
func (t Translator) distroPath(loc location) (string, *Error) {
	switch {
	case t.Distro == "":
		return "", fail(ErrNoDistro)
	case !equalFold(loc.share, t.Distro):
		return "", failWith(ErrOtherDistro, "it is in "+quote(loc.share)+" and this is "+quote(t.Distro)+
			": start the agent in that distro (--distro), or open the folder in this one")
	case loc.form == FormRemoteURI:
		return cleanPOSIX(loc.rest), nil
	}
	var windowsStack, linuxStack [stackPath]byte
	windows, err := appendWindowsSegments(windowsStack[:0], loc.rest)
	if err != nil {
		return "", err
	}
	if len(windows) == 0 {
		return "/", nil
	}
	linux := string(appendLinuxNames(linuxStack[:0], windows))
	if len(linux) != len(windows) && (FormOf(linux) != FormPOSIX || checkMixed(linux) != nil) {
		return "", failWith(ErrMixedForms, "the Linux name "+quote(linux)+" cannot be told from a Windows path: rename it")
	}
	return linux, nil
}

// mountedPath returns the Linux path of a location on a drive or share.
func (t Translator) mountedPath(loc location) (string, Rule, *Error) {
	var stack [stackPath]byte
	windows := stack[:0]
	if loc.anchor == anchorDrive {
		windows = append(windows, upper(loc.drive), ':')
	} else {
		windows = append(windows, "//"...)
		windows = append(windows, loc.host...)
		windows = append(windows, '/')
		windows = append(windows, loc.share...)
	}
	windows, err := appendWindowsSegments(windows, loc.rest)
	if err != nil {
		return "", RuleNone, err
	}
	if m, ok := t.Mounts.findWindows(windows); ok {
		return joinLinux(m.linux, windows[len(m.windows):]), RuleMount, nil
	}
	if loc.anchor == anchorShare {
		return "", RuleNone, failWith(ErrUNCNotMounted, shareRemedy(loc))
	}
	letter, rest := windows[0], windows[len("C:"):]
	if target, ok := t.Mounts.driveTarget(letter); ok {
		t.Mounts = t.Mounts.withoutDrive(letter)
		linux, _, err := t.toLinux(target + string(rest))
		return linux, RuleDriveTarget, err
	}
	if t.Mounts.automount != "" {
		return t.Mounts.automount + lowerLetter(letter) + string(rest), RuleAutomount, nil
	}
	return "", RuleNone, failWith(ErrDriveNotMounted, t.driveRemedy(letter))
}

// joinLinux appends rest, "" or "/a/b", to a mount point.
func joinLinux(mountPoint string, rest []byte) string {
	if mountPoint == "/" && len(rest) > 0 {
		mountPoint = ""
	}
	return mountPoint + string(rest)
}

// lowerLetter returns an upper-case drive letter in lower case.
func lowerLetter(letter byte) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return letters[letter-'A' : letter-'A'+1]
}

func (t Translator) driveRemedy(letter byte) string {
	if t.Distro == "" && t.Mounts.isZero() {
		return "this Linux has no Windows drives: give a Linux path"
	}
	folder := "/mnt/" + lowerLetter(letter)
	return "mount it there with: sudo mkdir -p " + folder + " && sudo mount -t drvfs " + string(letter) + ": " + folder +
		" (all drives: [automount] enabled=true in /etc/wsl.conf)"
}

func shareRemedy(loc location) string {
	return `mount it there with: sudo mkdir -p /mnt/share && sudo mount -t drvfs '\\` + loc.host + `\` + loc.share + `' /mnt/share`
}
