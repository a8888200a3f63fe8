package store

import "golang.org/x/sys/unix"

// The magic numbers that x/sys does not name.
const (
	magicSMB2 = 0xfe534d42
	magicCIFS = 0xff534d42
	magicWSL1 = 0x53464846
)

func statFileSystem(dir string) (fileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fsLocal, err
	}
	switch uint32(st.Type) {
	case unix.V9FS_MAGIC:
		return fs9P, nil
	case unix.FUSE_SUPER_MAGIC:
		return fsFUSE, nil
	case unix.NFS_SUPER_MAGIC:
		return fsNFS, nil
	case unix.SMB_SUPER_MAGIC, magicSMB2, magicCIFS:
		return fsSMB, nil
	case magicWSL1:
		return fsWSL, nil
	}
	return fsLocal, nil
}
