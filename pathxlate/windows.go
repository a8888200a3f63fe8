package pathxlate

func (t *Translator) toWindows(p string) (string, Rule, *Error) {
	loc, err := t.parseOutbound(p)
	if err != nil {
		return "", RuleNone, err
	}
	var stack [stackPath]byte
	windows, rule, err := t.appendWindows(stack[:0], &loc)
	if err != nil {
		return "", RuleNone, err
	}
	replaceSlashes(windows, '\\')
	if string(windows) == p {
		return p, rule, nil
	}
	return string(windows), rule, nil
}

func (t *Translator) uriToWindows(uri string) (string, Rule, *Error) {
	base, suffix := splitSuffix(uri)
	loc, err := t.parseOutbound(base)
	if err != nil {
		return "", RuleNone, err
	}
	var pathStack, uriStack [stackPath]byte
	windows, rule, err := t.appendWindows(pathStack[:0], &loc)
	switch {
	case err != nil:
		return "", RuleNone, err
	case rule == RuleWindowsPath && loc.form == FormFileURI:
		return uri, rule, nil
	}
	return string(append(appendWindowsURI(uriStack[:0], windows), suffix...)), rule, nil
}

// parseOutbound is parse for what comes from Linux, where //server/share is another
// spelling of /server/share. It is taken for a share only where that is mounted.
func (t *Translator) parseOutbound(p string) (location, *Error) {
	loc, err := parse(p, false)
	if err != nil || loc.form != FormUNC || p[0] != '/' || p[1] != '/' {
		return loc, err
	}
	share, err := appendMountSource(nil, &loc)
	if err != nil {
		return loc, err
	}
	if _, mounted := t.Mounts.findWindows(share); !mounted {
		return loc, failWith(ErrUNCNotMounted, "write "+quote(p[1:])+" for a Linux path, or a share with backslashes")
	}
	return loc, nil
}

// appendWindows appends the Windows path of a location to dst, which is empty. It
// has forward slashes, so that a URI can be made of it too.
func (t *Translator) appendWindows(dst []byte, loc *location) ([]byte, Rule, *Error) {
	switch {
	case loc.anchor == anchorLinux:
		return t.appendWindowsOf(dst, loc.rest)
	case loc.form == FormRemoteURI:
		if err := t.checkDistro(loc); err != nil {
			return dst, RuleNone, err
		}
		return t.appendWindowsOf(dst, loc.rest)
	}
	switch {
	case loc.form == FormVerbatimDrive:
		dst = append(dst, "//?/"...)
	case loc.form == FormVerbatimUNC:
		dst = append(dst, "//?/UNC"...)
	case loc.anchor != anchorDrive:
		dst = append(dst, '/')
	}
	dst = appendAnchor(dst, loc)
	root := len(dst)
	dst, err := appendWindowsSegments(dst, loc.rest)
	if len(dst) == root && loc.anchor != anchorShare {
		dst = append(dst, '/')
	}
	return dst, RuleWindowsPath, err
}

// appendAnchor appends what a location on a drive or share is absolute from, "C:"
// or "/server/share".
func appendAnchor(dst []byte, loc *location) []byte {
	if loc.anchor == anchorDrive {
		return append(dst, loc.drive, ':')
	}
	dst = append(dst, '/')
	dst = append(dst, loc.host...)
	dst = append(dst, '/')
	return append(dst, loc.share...)
}

// appendWindowsOf appends the Windows path of a clean Linux path.
func (t *Translator) appendWindowsOf(dst []byte, linux string) ([]byte, Rule, *Error) {
	if err := checkLength(len(linux)); err != nil {
		return dst, RuleNone, err
	}
	if m, ok := t.Mounts.findLinux(linux); ok {
		rest := below(linux, m.linux)
		if rest == "" && len(m.windows) == len("C:") {
			rest = "/"
		}
		rule := RuleMount
		if t.Mounts.automount != "" {
			rule = RuleAutomount
		}
		return appendWindowsNames(append(dst, m.windows...), rest), rule, nil
	}
	if t.Distro == "" {
		return dst, RuleNone, fail(ErrNoDistro)
	}
	dst = append(dst, "//wsl.localhost/"...)
	dst = append(dst, t.Distro...)
	return appendWindowsNames(dst, linux), RuleDistro, nil
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
