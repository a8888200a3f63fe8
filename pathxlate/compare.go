package pathxlate

// DirKey returns a string that is equal for two spellings of one folder: its
// Linux path, with the ASCII letters below a Windows mount point in lower case.
// It is for comparing only; show and store the path itself. The error is an
// *Error.
func (t Translator) DirKey(dir string) (string, error) {
	linux, err := t.ToLinux(dir)
	if err != nil {
		return "", err
	}
	m, ok := t.Mounts.findLinux(linux)
	if !ok {
		return linux, nil
	}
	key := []byte(linux)
	for i := len(m.linux); i < len(key); i++ {
		key[i] = lower(key[i])
	}
	return string(key), nil
}

// SameDir reports whether a and b, in any form, name one folder. Windows mounts
// ignore ASCII case, file systems of Linux do not. What cannot be translated is
// the same as nothing but its own spelling.
func (t Translator) SameDir(a, b string) bool {
	if a == b {
		return true
	}
	keyA, errA := t.DirKey(a)
	keyB, errB := t.DirKey(b)
	return errA == nil && errB == nil && keyA == keyB
}
