package pathxlate

import "strings"

// ParseWSLConf reads the mounts that the text of /etc/wsl.conf stands for: those
// of [AutomountRoot] with its automount root, or none when automount is switched
// off. What it cannot read keeps its default, /mnt/.
func ParseWSLConf(text string) MountTable {
	section, root, enabled := "", "/mnt/", true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section, _, _ = strings.Cut(name, "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || !equalFold(strings.TrimSpace(section), "automount") {
			continue
		}
		value, _, _ = strings.Cut(value, "#")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key = strings.TrimSpace(key); {
		case equalFold(key, "root"):
			root = value
		case equalFold(key, "enabled"):
			enabled = !equalFold(value, "false") && value != "0"
		}
	}
	if !enabled {
		return MountTable{}
	}
	return AutomountRoot(root)
}
