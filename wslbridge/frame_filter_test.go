package wslbridge

import (
	"strings"
	"testing"
)

func TestFrameFilter(t *testing.T) {
	const crash = "The Windows Subsystem for Linux instance has terminated.\r\nError code: Wsl/Service/WSL_E_VM_CRASHED\r\n"
	for name, tc := range map[string]struct{ in, frames, noise string }{
		"frames":          {"{\"a\":1}\n\n{\"b\":2}\r\n", "{\"a\":1}\n\n{\"b\":2}\r\n", ""},
		"a crash at last": {"{\"a\":1}\n" + crash, "{\"a\":1}\n", crash},
		"in UTF-16":       {"{\"a\":1}\n" + utf16le(crash), "{\"a\":1}\n", utf16le(crash)},
		"in between":      {"{\"a\":1}\nnoise\n{\"b\":\"x\"}\n", "{\"a\":1}\n{\"b\":\"x\"}\n", "noise\n"},
		"a cut frame":     {"{\"a\":1}\n{\"b", "{\"a\":1}\n{\"b", ""},
		"not in a frame":  {"{\"a\":\"long\"}\n[1]\n", "{\"a\":\"long\"}\n[1]\n", ""},
		"nothing but it":  {"noise", "", "noise"},
	} {
		for _, size := range []int{1, 3, 1000} {
			var frames, noise strings.Builder
			f := &frameFilter{frames: &frames, noise: &noise}
			for rest := tc.in; rest != ""; {
				n := min(size, len(rest))
				if got, err := f.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatalf("Write = %d, %v", got, err)
				}
				rest = rest[n:]
			}
			if frames.String() != tc.frames || noise.String() != tc.noise {
				t.Errorf("%s in pieces of %d: frames %q, noise %q", name, size, frames.String(), noise.String())
			}
		}
	}
}
