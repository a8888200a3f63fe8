//go:build unix

package wslbridgetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lookPath is execvpe's search in a PATH that is not this process's.
func lookPath(path, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for dir := range strings.SplitSeq(path, ":") {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, os.ErrNotExist)
}
