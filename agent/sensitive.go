package agent

import (
	"path"
	"path/filepath"
	"strings"
)

// Sensitive reports whether a change to the file at p, absolute, could give
// away secrets or run code later, so that it always asks. home is the person's
// home folder, empty when unknown. It looks at the spelling only; callers pass
// the path as given and its resolved target.
//
// Letters are compared without ASCII case, and 8.3 short names (`GIT~1`) and
// elements that end in a dot or a space count as sensitive on every file
// system: which of them is drvfs, where these are other spellings of a name, is
// not known here, and elsewhere they are rare.
func Sensitive(p, home string) bool {
	p = filepath.ToSlash(p)
	elements := strings.Split(strings.ToLower(p), "/")
	for i, element := range elements {
		if isSensitiveElement(element) ||
			element == "workflows" && i > 0 && elements[i-1] == ".github" {
			return true
		}
	}
	name := elements[len(elements)-1]
	return isSensitiveName(name) ||
		strings.HasPrefix(name, ".") && isHome(path.Dir(p), filepath.ToSlash(home))
}

func isSensitiveElement(element string) bool {
	switch element {
	case ".git", ".ssh", ".gnupg", ".aws", ".kube", ".hermes", ".vscode", ".zed", ".idea",
		".jetbrains", ".cursor", ".claude", ".husky", "autostart", "systemd", "startup":
		return true
	case "", ".", "..":
		return false
	}
	if last := element[len(element)-1]; last == '.' || last == ' ' {
		return true
	}
	tilde := strings.IndexByte(element, '~')
	return tilde > 0 && tilde+1 < len(element) && '0' <= element[tilde+1] && element[tilde+1] <= '9'
}

func isSensitiveName(name string) bool {
	switch name {
	case ".env.example", ".env.sample", ".env.template":
		return false
	case ".env", ".netrc", ".npmrc", ".pypirc", ".gitconfig", ".mcp.json", ".envrc",
		"authorized_keys", "credentials",
		".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
		".login", ".logout", "config.fish":
		return true
	}
	for _, key := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, key) {
			return !strings.HasSuffix(name, ".pub")
		}
	}
	if strings.HasPrefix(name, ".env.") {
		return true
	}
	for _, suffix := range []string{".pem", ".key", "profile.ps1"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// isHome reports whether dir is a person's home folder: the known one, or a
// folder straight below one that is named as such, which on drvfs is the
// Windows profile (/mnt/c/Users/anna).
func isHome(dir, home string) bool {
	if home != "" && dir == path.Clean(home) || dir == "/root" {
		return true
	}
	parent := strings.ToLower(path.Base(path.Dir(dir)))
	return parent == "home" || parent == "users"
}
