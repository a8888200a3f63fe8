package pathxlate_test

import (
	"testing"

	"github.com/hermes-acp/hermes-acp/pathxlate"
)

func TestDistroOf(t *testing.T) {
	for input, want := range map[string]string{
		`\\wsl.localhost\Ubuntu-22.04\home`:         "Ubuntu-22.04",
		`//wsl$/Debian`:                             "Debian",
		`\\?\UNC\wsl.localhost\NixOS\home`:          "NixOS",
		`file://wsl%24/My%20Distro/x`:               "My Distro",
		`vscode-remote://wsl%2Bubuntu/home`:         "ubuntu",
		`vscode://vscode-remote/wsl+Ubuntu/home/me`: "Ubuntu",
		`C:\a`:                         "",
		`/home`:                        "",
		`\\server\share\a`:             "",
		`\\wsl.localhost`:              "",
		`vscode-remote://ssh-remote+a`: "",
		`https://wsl.localhost/Ubuntu`: "",
	} {
		if got, ok := pathxlate.DistroOf(input); got != want || ok != (want != "") {
			t.Errorf("DistroOf(%q) is %q, %v; want %q", input, got, ok, want)
		}
	}
}
