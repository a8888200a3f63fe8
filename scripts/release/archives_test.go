package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// distEnv names the folder in which scripts/lanes/release.sh has let goreleaser
// make a release.
const distEnv = "HERMES_ACP_DIST"

// maxLauncherBytes is the most that hermes-acp.exe may have, the agent for Linux
// inside it.
const maxLauncherBytes = 25 << 20

func distDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(distEnv)
	if dir == "" {
		t.Skip("run by scripts/test release")
	}
	return dir
}

func TestRelease_HasTheArchivesOfTheManifest(t *testing.T) {
	dir, m := distDir(t), readManifest(t)
	want := []string{"checksums.txt"}
	for archive := range m.archives() {
		want = append(want, archive)
	}
	slices.Sort(want)
	var got []string
	for _, pattern := range []string{"*.tar.gz", "*.zip", "checksums.txt"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			got = append(got, filepath.Base(file))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	sums := string(readFile(t, filepath.Join(dir, "checksums.txt")))
	for archive, program := range m.archives() {
		file := filepath.Join(dir, archive)
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(readFile(t, file)), archive); !strings.Contains(sums, line) {
			t.Errorf("checksums.txt has no line %q", line)
		}
		var names []string
		for _, f := range unpack(t, file) {
			names = append(names, f.name)
			if f.name == program && f.mode&0o111 != 0o111 {
				t.Errorf("%s in %s has mode %v", f.name, archive, f.mode)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"LICENSE", "README.md", program}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", archive, diff)
		}
	}
}

func TestRelease_LauncherEmbedsTheAgentOfItsRelease(t *testing.T) {
	dir, version := distDir(t), readManifest(t).Version
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			agent := program(t, filepath.Join(dir, fmt.Sprintf("hermes-acp_%s_linux_%s.tar.gz", version, arch)))
			launcher := program(t, filepath.Join(dir, fmt.Sprintf("hermes-acp_%s_windows_%s.zip", version, arch)))
			t.Logf("hermes-acp has %d KiB, hermes-acp.exe %d KiB", len(agent)>>10, len(launcher)>>10)
			if len(launcher) > maxLauncherBytes {
				t.Errorf("hermes-acp.exe has %d bytes, more than %d", len(launcher), maxLauncherBytes)
			}
			sum := fmt.Sprintf("%x %d", sha256.Sum256(agent), len(agent))
			if !bytes.Contains(launcher, []byte(sum)) {
				t.Errorf("hermes-acp.exe does not expect the agent %s", sum)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(embedded(t, launcher))); !strings.HasPrefix(sum, got) {
				t.Errorf("hermes-acp.exe embeds the agent %s, the release has %s", got, sum)
			}
		})
	}
}

// embedded is what scripts/embed-agent.sh put into the launcher: the first gzip
// stream without a time or name, as gzip -9n writes it.
func embedded(t *testing.T, launcher []byte) []byte {
	t.Helper()
	start := bytes.Index(launcher, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3})
	if start < 0 {
		t.Fatal("hermes-acp.exe embeds nothing")
	}
	r, err := gzip.NewReader(bytes.NewReader(launcher[start:]))
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestRelease_LauncherHasItsResources(t *testing.T) {
	dir, version := distDir(t), readManifest(t).Version
	manifest := readFile(t, "../../winres/hermes-acp.manifest")
	for _, arch := range []string{"amd64", "arm64"} {
		launcher := program(t, filepath.Join(dir, fmt.Sprintf("hermes-acp_%s_windows_%s.zip", version, arch)))
		if !bytes.Contains(launcher, manifest) {
			t.Errorf("%s: the manifest is missing", arch)
		}
		for _, text := range []string{"OriginalFilename", "hermes-acp.exe", "ProductVersion", version} {
			if !bytes.Contains(launcher, wide(text)) {
				t.Errorf("%s: the version resource does not say %q", arch, text)
			}
		}
	}
}

// wide is text as resources hold it, in UTF-16 with a zero behind it.
func wide(text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text + "\x00")) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

func TestRelease_SaysItsVersion(t *testing.T) {
	dir, version := distDir(t), readManifest(t).Version
	archive := filepath.Join(dir, fmt.Sprintf("hermes-acp_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH))
	file := filepath.Join(t.TempDir(), "hermes-acp")
	if err := os.WriteFile(file, program(t, archive), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), file, "--version").Output()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("--version says %q (%v), want %s", out, err, version)
	}
}

type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// program is the content of hermes-acp or hermes-acp.exe in an archive.
func program(t *testing.T, archive string) []byte {
	t.Helper()
	for _, f := range unpack(t, archive) {
		if strings.HasPrefix(f.name, "hermes-acp") {
			return f.content
		}
	}
	t.Fatalf("no program in %s", archive)
	return nil
}

func unpack(t *testing.T, archive string) []file {
	t.Helper()
	read := unpackTarGz
	if strings.HasSuffix(archive, ".zip") {
		read = unpackZip
	}
	files, err := read(archive)
	if err != nil {
		t.Fatalf("%s: %v", archive, err)
	}
	return files
}

func unpackTarGz(archive string) ([]file, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var files []file
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files = append(files, file{header.Name, header.FileInfo().Mode(), content})
	}
}

func unpackZip(archive string) ([]file, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var files []file
	for _, entry := range r.File {
		content, err := fs.ReadFile(r, entry.Name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{entry.Name, entry.Mode(), content})
	}
	return files, nil
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
