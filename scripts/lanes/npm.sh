# Real clients from the npm registry, unmodified, drive the real binary.
set -eu
. scripts/lib.sh

command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || apt_install nodejs npm || skip "node and npm are not here"

# The clients are installed outside the tree, once for each lock file. Not with
# npm ci: it refuses locks without the optional packages of other systems.
clients=$tools/npm-$(cksum <scripts/npm/package-lock.json | tr -d ' ')
if [ ! -d "$clients/node_modules" ]; then
	rm -rf "$clients.new"
	mkdir -p "$clients.new"
	cp scripts/npm/package.json scripts/npm/package-lock.json "$clients.new/"
	(cd "$clients.new" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error) || skip "the clients could not be installed (is the network there?)"
	mv "$clients.new" "$clients"
fi
cp scripts/npm/*.mjs "$clients/"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/hermes-acp" ./cmd/hermes-acp
# Real agents of others, behind the bridge.
HERMES_NPM_CLIENTS=$clients go test -count=1 -run NPM ./wslbridge
HERMES_ACP=$out/hermes-acp node --test --test-concurrency=1 "$clients"/*.test.mjs
