package store

// fileSystem is the kind of file system that a folder lies on, as far as SQLite
// has to know it. The zero value is a local one.
type fileSystem string

// File systems on which shared memory or byte locks cannot be relied on. WSL's
// drvfs is 9p, virtiofs or, in WSL 1, wslfs.
const (
	fsLocal fileSystem = ""
	fs9P    fileSystem = "9p"
	fsFUSE  fileSystem = "fuse" // virtiofs reports itself so
	fsNFS   fileSystem = "nfs"
	fsSMB   fileSystem = "smb"
	fsWSL   fileSystem = "wslfs"
)

// journalMode is the journal that is safe on f. A write-ahead log needs memory
// that all processes share; see https://www.sqlite.org/wal.html and
// gastownhall/beads#920 for what happens on a Windows drive in WSL.
func (f fileSystem) journalMode() string {
	if f == fsLocal {
		return "wal"
	}
	return "delete"
}
