# Every fuzz target for a while each (10 s unless HERMES_ACP_FUZZTIME says else).
# A target that cannot run here, such as the one against a real wslpath, says so.
set -eu
. scripts/lib.sh

log=$(mktemp)
trap 'rm -f "$log"' EXIT
packages=$(go list ./...)
for pkg in $packages; do
	targets=$(go test -list '^Fuzz' "$pkg")
	for target in $targets; do
		case $target in Fuzz*) ;; *) continue ;; esac # the last line is no target
		say "fuzz $target"
		go test -v -run '^$' -fuzz "^$target\$" -fuzztime "${HERMES_ACP_FUZZTIME:-10s}" -fuzzminimizetime 10x "$pkg" >"$log" 2>&1 || {
			cat "$log"
			exit 1
		}
		! grep -q '^--- SKIP' "$log" || say "SKIP: $target: $(sed -n 's/^ *[a-z_]*\.go:[0-9]*: //p' "$log")"
	done
done
