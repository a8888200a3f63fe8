# The real hermes-agent, as it is on PyPI, and our store on the same files: each
# reads, searches and extends what the other made. Optional: needs Python 3.11
# with venv, and the network for the first run.
set -eu
. scripts/lib.sh

release=0.19.0
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "hermes-agent needs Python 3.11, this is $(python3 --version)"

venv=$tools/hermes-agent-$release
[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import hermes_state' 2>/dev/null || {
	say "installing hermes-agent $release into $venv"
	rm -rf "$venv"
	python3 -m venv "$venv" || skip "python3 -m venv failed (on Debian: apt-get install python3-venv)"
	"$venv/bin/pip" install -q "hermes-agent==$release" || {
		rm -rf "$venv"
		skip "hermes-agent $release could not be installed (is the network there?)"
	}
}
HERMES_ACP_PYTHON=$venv/bin/python go test -count=1 -run '^TestHermes_' ./agent/store
