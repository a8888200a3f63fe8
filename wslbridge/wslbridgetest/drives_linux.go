package wslbridgetest

import (
	"fmt"
	"os"
	"strings"
)

// mountDrives runs in a mount namespace of its own, in which it makes the drives, shows the process
// the mount table that WSL would show, and becomes the command. $1 is a file with that table, then
// come letters and folders, then --.
const mountDrives = `set -e
table=$1
shift
mount -t tmpfs drives /mnt
while [ "$1" != -- ]; do
	mkdir "/mnt/$1"
	mount --bind "$2" "/mnt/$1"
	shift 2
done
shift
mount --bind "$table" /proc/$$/mountinfo
rm "$table"
exec "$@"`

// withDrives wraps the command of a job so that it sees drives as WSL mounts them. unshare and mount
// of util-linux do it, for root and for others where unprivileged namespaces are allowed.
func (job Job) withDrives() (Job, error) {
	if len(job.Drives) == 0 {
		return job, nil
	}
	table, err := os.CreateTemp("", "wslsim-mountinfo-")
	if err != nil {
		return Job{}, err
	}
	defer func() { _ = table.Close() }()
	words := []string{"/usr/bin/unshare", "--mount", "--propagation", "private"}
	if os.Getuid() != 0 {
		words = append(words, "--map-root-user")
	}
	words = append(words, "/bin/sh", "-c", mountDrives, "sh", table.Name())
	for letter, folder := range job.Drives {
		drive := strings.ToUpper(letter)
		if _, err := fmt.Fprintf(table, "67 45 0:39 / /mnt/%s rw,noatime - 9p %s:\\134 rw,aname=drvfs;path=%s:\\;uid=0;gid=0;symlinkroot=/mnt/\n", letter, drive, drive); err != nil {
			return Job{}, err
		}
		words = append(words, letter, folder)
	}
	job.Argv = append(append(words, "--"), job.Argv...)
	return job, nil
}
