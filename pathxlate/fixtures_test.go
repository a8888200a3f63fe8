package pathxlate_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/pathxlate"
	"github.com/hermes-acp/hermes-acp/testdata"
)

// translate does what the op of a fixture row says.
func translate(tb testing.TB, c testdata.PathCase) (string, error) {
	tb.Helper()
	t := c.Translator(tb)
	var roots pathxlate.Roots
	for _, spelling := range c.Roots {
		linux, err := t.ToLinux(spelling)
		if err != nil {
			tb.Fatalf("root %q: %v", spelling, err)
		}
		roots.Add(spelling, linux)
	}
	switch c.Op {
	case "to-linux":
		return t.ToLinux(c.Input)
	case "to-windows":
		return t.ToWindows(c.Input)
	case "uri-to-linux":
		return t.URIToLinux(c.Input)
	case "uri-to-windows":
		return t.URIToWindows(c.Input)
	case "outbound":
		return roots.Outbound(t, c.Input)
	case "outbound-uri":
		return roots.OutboundURI(t, c.Input)
	case "dir-key":
		return t.DirKey(c.Input)
	}
	tb.Fatalf("no such op: %q", c.Op)
	return "", nil
}

func TestFixtures(t *testing.T) {
	for _, c := range testdata.PathCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			got, err := translate(t, c)
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("%s %q (%s): want - got +\n%s", c.Op, c.Input, c.Why, diff)
			}
			if name := pathxlate.ErrName(err); name != c.Err {
				t.Errorf("%s %q (%s): error is %q (%v), want %q", c.Op, c.Input, c.Why, name, err, c.Err)
			}
			var failure *pathxlate.Error
			if err != nil && (!errors.As(err, &failure) || failure.Op == "" || failure.Remedy == "") {
				t.Errorf("%s %q: the error lacks its operation or remedy: %#v", c.Op, c.Input, err)
			}
		})
	}
}
