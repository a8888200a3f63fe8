package wslbridge

import "strings"

// substTarget returns what a SUBST drive stands for, given the device that Windows names for it
// (QueryDosDevice): `\??\D:\sub` or `\??\UNC\server\share`. Other devices are real drives.
func substTarget(device string) (string, bool) {
	path, ok := strings.CutPrefix(device, `\??\`)
	if !ok {
		return "", false
	}
	if share, ok := strings.CutPrefix(path, `UNC\`); ok {
		return `\\` + share, true
	}
	return path, true
}

// driveTargets lists the drives of this Windows session that are not drives of the machine, by
// upper-case letter. Neither kind exists inside WSL under its letter (WSL#4580, WSL#10311). device
// and share ask Windows about one drive such as "Z:"; share returns "" unless it is mapped to one.
func driveTargets(letters string, device, share func(drive string) string) map[string]string {
	targets := map[string]string{}
	for _, letter := range letters {
		drive := string(letter) + ":"
		if target, ok := substTarget(device(drive)); ok {
			targets[string(letter)] = target
		} else if target := share(drive); target != "" {
			targets[string(letter)] = target
		}
	}
	return targets
}
