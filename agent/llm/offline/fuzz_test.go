package offline

import "testing"

// FuzzUnderstand holds that no request makes the parser panic, and that what it
// understands can be done: every step names its file or its command.
func FuzzUnderstand(f *testing.F) {
	for _, seed := range []string{
		`replace "a" with 'b' in c.d`, "create x.y:\n```\nz\n```", "run `a` then read \"b c\" and show it",
		"1. read a.b\n- run \"x\" -y", "substitute b for a in in c.d of", "“ ‘ « ` \" ' ```",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, request string) {
		steps, _ := understand(request)
		for _, s := range steps {
			if s.kind == kindRun && s.command == "" || s.kind != kindRun && s.path == "" {
				t.Errorf("%q gave a step without its object: %+v", request, s)
			}
		}
	})
}
