# The release as goreleaser makes it from the last commit, in a clone and without
# publishing it: the names, sizes and contents of its archives.
set -eu
. scripts/lib.sh

go_tool goreleaser github.com/goreleaser/goreleaser/v2@v2.15.1 || skip "goreleaser could not be built (is the network there?)"
goreleaser=$tool
go_tool go-winres github.com/tc-hib/go-winres@v0.3.3 || skip "go-winres could not be built (is the network there?)"

[ -z "$(git status --porcelain)" ] || say "note: what is not committed is not in this release"
version=$(sed -n 's/^var version = "\(.*\)"$/\1/p' cmd/hermes-acp/main.go)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
git clone -q . "$out/clone"
git -C "$out/clone" remote set-url origin "https://$module"
git -C "$out/clone" tag -f "v$version" >/dev/null
(cd "$out/clone" && "$goreleaser" check && "$goreleaser" release --clean --skip=publish --parallelism 1)
HERMES_ACP_DIST=$out/clone/dist go test -count=1 -v ./scripts/release
