package wslbridge

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChildEnviron(t *testing.T) {
	for name, tc := range map[string]struct {
		env   []string
		names []string
		want  []string
	}{
		"nothing set": {nil, nil, []string{"WSL_UTF8=1", "HERMES_ACP_FORWARDED=", "WSLENV=HERMES_ACP_FORWARDED/u"}},
		"W23 an existing WSLENV is kept": {
			[]string{"WSLENV=CAROOT/up:FOO:", "FOO=x", "https_proxy=p"},
			[]string{"FOO"},
			[]string{"WSLENV=CAROOT/up:FOO:https_proxy/u:HERMES_ACP_FORWARDED/u", "FOO=x", "https_proxy=p", "WSL_UTF8=1", "HERMES_ACP_FORWARDED="},
		},
		"W22 keys fill gaps unless they are named": {
			[]string{"OPENAI_API_KEY=a", "OPENROUTER_API_KEY=b", "HERMES_ACP_ENV=OPENROUTER_API_KEY, MINE", "MINE=c", "NOT_SET_HERE_ELSE=d"},
			nil,
			[]string{
				"OPENAI_API_KEY=a", "OPENROUTER_API_KEY=b", "HERMES_ACP_ENV=OPENROUTER_API_KEY, MINE", "MINE=c", "NOT_SET_HERE_ELSE=d",
				"WSL_UTF8=1", "HERMES_ACP_FORWARDED=OPENAI_API_KEY",
				"WSLENV=OPENROUTER_API_KEY/u:MINE/u:OPENAI_API_KEY/u:HERMES_ACP_FORWARDED/u:HERMES_ACP_ENV/u",
			},
		},
		"paths are translated": {
			[]string{`SSL_CERT_FILE=C:\ca.pem`, "WSL_UTF8=0"},
			nil,
			[]string{`SSL_CERT_FILE=C:\ca.pem`, "WSL_UTF8=1", "HERMES_ACP_FORWARDED=", "WSLENV=HERMES_ACP_FORWARDED/u:SSL_CERT_FILE/up"},
		},
		"W59 D17 HERMES_HOME stays on Windows": {
			[]string{`HERMES_HOME=C:\Users\u\.hermes`},
			[]string{"HERMES_HOME"},
			[]string{`HERMES_HOME=C:\Users\u\.hermes`, "WSL_UTF8=1", "HERMES_ACP_FORWARDED=", "WSLENV=HERMES_ACP_FORWARDED/u"},
		},
		"a variable that is not set is not listed": {nil, []string{"MISSING"}, []string{"WSL_UTF8=1", "HERMES_ACP_FORWARDED=", "WSLENV=HERMES_ACP_FORWARDED/u"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.env)
			if diff := cmp.Diff(tc.want, childEnviron(tc.env, tc.names)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if !slices.Equal(before, tc.env) {
				t.Error("the caller's environment was changed")
			}
		})
	}
}
