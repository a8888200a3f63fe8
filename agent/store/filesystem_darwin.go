package store

import (
	"strings"

	"golang.org/x/sys/unix"
)

func statFileSystem(dir string) (fileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fsLocal, err
	}
	switch name := unix.ByteSliceToString(st.Fstypename[:]); {
	case name == "nfs":
		return fsNFS, nil
	case name == "smbfs":
		return fsSMB, nil
	case strings.Contains(name, "fuse"), name == "virtiofs":
		return fsFUSE, nil
	}
	return fsLocal, nil
}
