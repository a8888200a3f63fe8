package tools

import (
	"path/filepath"
	"slices"
	"strings"
)

// On a Windows drive inside WSL (drvfs) two worlds meet: programs that are for
// Windows, and checkouts that Git for Windows made.

// nativeFirst moves the folders on Windows drives to the end of a PATH. npm and
// the like there are scripts with CRLF line ends, which fail in strange ways
// when they are found before the Linux ones (microsoft/WSL#5251).
func nativeFirst(path string, onDrvfs func(string) bool) string {
	dirs := filepath.SplitList(path)
	slices.SortStableFunc(dirs, func(a, b string) int {
		return boolToInt(onDrvfs(a)) - boolToInt(onDrvfs(b))
	})
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// WindowsAutocrlf returns the core.autocrlf by which Git for Windows checked out
// the repository that dir, on a Windows drive, is in, and the file that says so.
// Git inside WSL does not read that file, and would show every text file as
// modified. Both are empty when the repository was not made by Git for Windows
// or has a setting of its own.
func WindowsAutocrlf(dir string) (value, file string) {
	root := dir
	for !isRepositoryRoot(root) {
		up := filepath.Dir(root)
		if up == root {
			return "", ""
		}
		root = up
	}
	own := gitCore(filepath.Join(root, ".git", "config"))
	byWindows := own["filemode"] == "false" && own["symlinks"] == "false" && own["ignorecase"] == "true"
	if _, set := own["autocrlf"]; set || !byWindows {
		return "", ""
	}
	for _, file := range windowsGitConfigs(root) {
		if value := gitCore(file)["autocrlf"]; value != "" {
			return value, file
		}
	}
	return "", ""
}

// windowsGitConfigs returns the configuration files of Git for Windows that hold
// for a path on a Windows drive, the strongest first: the person's, when the
// path is below their profile, and the installation's.
func windowsGitConfigs(path string) []string {
	elements := strings.Split(path, "/")
	drive := slices.IndexFunc(elements, func(e string) bool { return len(e) == 1 })
	if drive < 0 {
		return nil
	}
	mounts := strings.Join(elements[:drive], "/")
	var files []string
	if rest := elements[drive+1:]; len(rest) > 2 && strings.EqualFold(rest[0], "Users") {
		files = append(files, filepath.Join(strings.Join(elements[:drive+3], "/"), ".gitconfig"))
	}
	return append(files, mounts+"/c/Program Files/Git/etc/gitconfig")
}

// gitCore returns the [core] section of a Git configuration file, in lower case.
func gitCore(file string) map[string]string {
	core := map[string]string{}
	section := ""
	for line := range configLines(readConfig(file)) {
		if strings.HasPrefix(line, "[") {
			section = lowerTrim(strings.Trim(line, "[]"))
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && section == "core" {
			core[lowerTrim(key)] = lowerTrim(value)
		}
	}
	return core
}
