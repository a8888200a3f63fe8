# Every fuzz target for a while each (10 s unless HERMES_ACP_FUZZTIME says else).
set -eu
. scripts/lib.sh

go list ./... | while read -r pkg; do
	go test -list '^Fuzz' "$pkg" | grep '^Fuzz' | while read -r target; do
		say "fuzz $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${HERMES_ACP_FUZZTIME:-10s}" -fuzzminimizetime 10x "$pkg" >"${TMPDIR:-/tmp}/fuzz.$$" 2>&1 || {
			cat "${TMPDIR:-/tmp}/fuzz.$$"
			exit 1
		}
	done
done
rm -f "${TMPDIR:-/tmp}/fuzz.$$"
