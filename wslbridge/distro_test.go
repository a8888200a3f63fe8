package wslbridge

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestW34_ChooseDistro(t *testing.T) {
	ubuntu := Distro{Name: "Ubuntu-24.04", GUID: "{u}", Version: 2, Ready: true}
	debian := Distro{Name: "Debian", GUID: "{d}", Version: 2, Ready: true}
	docker := Distro{Name: "docker-desktop", GUID: "{k}", Version: 2, Ready: true}
	rancher := Distro{Name: "Rancher-Desktop-data", GUID: "{r}", Version: 2, Ready: true}
	installing := Distro{Name: "Fedora", GUID: "{f}", Version: 2}
	for name, tc := range map[string]struct {
		registered Registered
		wish       string
		workDir    string
		want       string
		fixed      bool
		err        error
	}{
		"default":                     {registered: Registered{[]Distro{debian, ubuntu}, "{U}"}, want: "Ubuntu-24.04"},
		"named":                       {registered: Registered{[]Distro{debian, ubuntu}, "{u}"}, wish: "debian", want: "Debian", fixed: true},
		"named, not there":            {registered: Registered{[]Distro{debian, ubuntu}, "{u}"}, wish: "Arch", fixed: true, err: ErrUnknownDistro},
		"named, registry empty":       {wish: "Arch", want: "Arch", fixed: true},
		"work dir":                    {registered: Registered{[]Distro{debian, ubuntu}, "{u}"}, workDir: `\\?\UNC\wsl.localhost\debian\home`, want: "Debian"},
		"work dir in unknown distro":  {registered: Registered{[]Distro{debian, ubuntu}, "{u}"}, workDir: `\\wsl$\Arch\home`, want: "Ubuntu-24.04"},
		"work dir on a drive":         {registered: Registered{[]Distro{debian, ubuntu}, "{u}"}, workDir: `C:\w`, want: "Ubuntu-24.04"},
		"W34 default is Docker's":     {registered: Registered{[]Distro{docker, ubuntu}, "{k}"}, want: "Ubuntu-24.04"},
		"W34 default is Rancher's":    {registered: Registered{[]Distro{rancher, debian}, "{r}"}, want: "Debian"},
		"no default, one left":        {registered: Registered{[]Distro{docker, debian, installing}, ""}, want: "Debian"},
		"no default, two left":        {registered: Registered{[]Distro{ubuntu, debian}, ""}, err: ErrAmbiguousDistro},
		"default is being installed":  {registered: Registered{[]Distro{installing, debian}, "{f}"}, want: "Debian"},
		"only helpers":                {registered: Registered{[]Distro{docker, rancher}, "{k}"}, err: ErrNoDistro},
		"nothing":                     {err: ErrNoDistro},
		"a helper is chosen if named": {registered: Registered{[]Distro{docker, debian}, "{d}"}, wish: "docker-desktop", want: "docker-desktop", fixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, fixed, err := tc.registered.choose(Wish{Name: tc.wish, Source: "--distro"}, tc.workDir)
			if got.Name != tc.want || fixed != tc.fixed || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v, %v", got.Name, fixed, err)
			}
			if errors.Is(err, ErrUnknownDistro) && !strings.Contains(err.Error(), "Debian, Ubuntu-24.04") {
				t.Errorf("the error does not list the names: %v", err)
			}
		})
	}
}

func TestW33_DistroSelector(t *testing.T) {
	for _, tc := range []struct {
		distro Distro
		want   []string
	}{
		{Distro{Name: "Ubuntu-24.04", GUID: "{u}"}, []string{"-d", "Ubuntu-24.04"}},
		{Distro{Name: "Débian-ü", GUID: "{d}"}, []string{"-d", "Débian-ü"}},
		{Distro{Name: "My Distro", GUID: "{m}"}, []string{"--distribution-id", "{m}"}},
	} {
		if diff := cmp.Diff(tc.want, tc.distro.selector()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.distro.Name, diff)
		}
	}
}

func TestDistroOfFolder(t *testing.T) {
	drives := map[string]string{"W": `\\wsl.localhost\Debian`, "S": `D:\sub`, "N": `\\server\share`}
	for path, want := range map[string]string{
		`\\wsl.localhost\Ubuntu\home\u`:         "Ubuntu",
		`//wsl$/Ubuntu`:                         "Ubuntu",
		`\\?\UNC\wsl.localhost\Ubuntu-22.04\`:   "Ubuntu-22.04",
		`W:\home\u`:                             "Debian",
		`w:`:                                    "Debian",
		`S:\x`:                                  "",
		`N:\x`:                                  "",
		`C:\x`:                                  "",
		`/home/u`:                               "",
		``:                                      "",
		`\\server\wsl.localhost\Ubuntu\home\u`:  "",
		`file://wsl.localhost/Ubuntu/home/u/x/`: "Ubuntu",
	} {
		if got, _ := distroOf(path, drives); got != want {
			t.Errorf("%s lies in %q, want %q", path, got, want)
		}
	}
}

func TestW14_DriveTargets(t *testing.T) {
	devices := map[string]string{
		"C:": `\Device\HarddiskVolume3`,
		"F:": `\??\D:\drives\F`,
		"G:": `\??\UNC\server\share\sub`,
		"Z:": `\Device\LanmanRedirector\;Z:00000000000123ab\server\share`,
		"W:": `\Device\Harddisk1`, // as Wine reports a mapped drive
	}
	shares := map[string]string{"Z:": `\\server\share`, "W:": `\\wsl.localhost\Ubuntu`}
	got := driveTargets("CFGWZ", func(d string) string { return devices[d] }, func(d string) string { return shares[d] })
	want := map[string]string{"F": `D:\drives\F`, "G": `\\server\share\sub`, "Z": `\\server\share`, "W": `\\wsl.localhost\Ubuntu`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}
