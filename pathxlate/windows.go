package pathxlate

func (t Translator) toWindows(p string) (string, Rule, *Error) {
	loc, err := parse(p, false)
	if err != nil {
		return "", RuleNone, err
	}
	return t.windowsPath(loc, p)
}

func (t Translator) uriToWindows(uri string) (string, Rule, *Error) {
	base, suffix := splitSuffix(uri)
	windows, rule, err := t.toWindows(base)
	switch {
	case err != nil:
		return "", RuleNone, err
	case rule == RuleWindowsPath && FormOf(uri) == FormFileURI:
		return uri, rule, nil
	}
	shown, err := windowsURI(windows)
	if err != nil {
		return "", RuleNone, err
	}
	return shown + suffix, rule, nil
}

// windowsPath returns the Windows path of a location, which is input itself where
// that needs no change.
func (t Translator) windowsPath(loc location, input string) (string, Rule, *Error) {
	switch {
	case loc.anchor == anchorLinux:
		return t.windowsPathOf(cleanPOSIX(loc.rest))
	case loc.form == FormRemoteURI:
		linux, err := t.distroPath(loc)
		if err != nil {
			return "", RuleNone, err
		}
		return t.windowsPathOf(linux)
	}
	var stack [stackPath]byte
	windows, err := appendWindowsPath(stack[:0], loc)
	switch {
	case err != nil:
		return "", RuleNone, err
	case string(windows) == input:
		return input, RuleWindowsPath, nil
	}
	return string(windows), RuleWindowsPath, nil
}

// windowsPathOf returns the Windows path of a clean Linux path.
func (t Translator) windowsPathOf(linux string) (string, Rule, *Error) {
	if len(linux) > maxLinuxPath {
		return "", RuleNone, fail(ErrTooLong)
	}
	var stack [stackPath]byte
	if m, ok := t.Mounts.findLinux(linux); ok {
		windows := backslashes(append(stack[:0], m.windows...))
		rest := below(linux, m.linux)
		if rest == "" && len(windows) == len("C:") {
			rest = "/"
		}
		rule := RuleMount
		if t.Mounts.automount != "" {
			rule = RuleAutomount
		}
		return string(appendWindowsNames(windows, rest, '\\')), rule, nil
	}
	if t.Distro == "" {
		return "", RuleNone, fail(ErrNoDistro)
	}
	windows := append(stack[:0], `\\wsl.localhost\`...)
	windows = append(windows, t.Distro...)
	return string(appendWindowsNames(windows, linux, '\\')), RuleDistro, nil
}

// below returns what follows the mount point in a clean Linux path: "" or "/a/b".
func below(linux, mountPoint string) string {
	if mountPoint == "/" {
		if linux == "/" {
			return ""
		}
		return linux
	}
	return linux[len(mountPoint):]
}

// appendWindowsPath appends a location that is one of Windows in the spelling of
// its form, clean and with backslashes.
func appendWindowsPath(dst []byte, loc location) ([]byte, *Error) {
	if loc.form == FormVerbatimDrive || loc.form == FormVerbatimUNC {
		dst = append(dst, `\\?\`...)
	}
	switch {
	case loc.anchor == anchorDrive:
		dst = append(dst, loc.drive, ':')
	case loc.form == FormVerbatimUNC:
		dst = append(dst, `UNC\`...)
	default:
		dst = append(dst, `\\`...)
	}
	if loc.anchor != anchorDrive {
		dst = append(dst, loc.host...)
		dst = append(dst, '\\')
		dst = append(dst, loc.share...)
	}
	root := len(dst)
	dst, err := appendWindowsSegments(dst, loc.rest)
	if err != nil {
		return dst, err
	}
	if len(dst) == root && loc.anchor != anchorShare {
		dst = append(dst, '\\')
	}
	return backslashes(dst), nil
}

// backslashes turns each slash of p into a backslash, in place.
func backslashes(p []byte) []byte {
	for i, c := range p {
		if c == '/' {
			p[i] = '\\'
		}
	}
	return p
}
