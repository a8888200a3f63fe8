package config

import (
	"fmt"
	"os/user"
	"path/filepath"
	"strings"
)

// Home returns Hermes' home folder: HERMES_HOME, else .hermes in the person's
// home folder, which comes from the password database when HOME is unset, as it
// is under some editors.
func Home(lookupEnv func(string) (string, bool)) (string, error) {
	home, _ := lookupEnv("HERMES_HOME")
	if filepath.IsAbs(home) {
		return filepath.Clean(home), nil
	}
	person, err := personHome(lookupEnv)
	if err != nil {
		return "", err
	}
	switch {
	case home == "":
		return filepath.Join(person, ".hermes"), nil
	case home == "~" || strings.HasPrefix(home, "~/"):
		return filepath.Join(person, home[1:]), nil
	}
	return "", fmt.Errorf("HERMES_HOME is %q, which is not an absolute path", home)
}

func personHome(lookupEnv func(string) (string, bool)) (string, error) {
	if home, _ := lookupEnv("HOME"); home != "" {
		return home, nil
	}
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		return "", fmt.Errorf("find the home folder: HOME is not set and the password database names none; set HERMES_HOME")
	}
	return u.HomeDir, nil
}
