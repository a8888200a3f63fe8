# Format, module files, vet for the three systems, race tests, six builds.
set -eu
. scripts/lib.sh

unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || {
	say "gofmt would change: $unformatted"
	exit 1
}
grep -q 'coder/acp-go-sdk v0.13.5$' go.mod || {
	say "go.mod must pin github.com/coder/acp-go-sdk v0.13.5 (the proxy's list ends at v0.13.0, so go get -u goes back)"
	exit 1
}
go mod tidy -diff

for goos in linux windows darwin; do
	say "vet $goos"
	GOOS=$goos go vet ./...
done

race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null 2>&1; then
	say "no C compiler: the tests run without the race detector"
	race=
fi
say "test $race"
go test $race ./...

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	say "build $target"
	GOOS=${target%/*} GOARCH=${target#*/} release_build -o "$out/"
	case $target in windows/*) at_most 6 "$out/hermes-acp.exe" ;; esac
done
