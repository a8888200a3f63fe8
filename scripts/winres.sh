# winres.sh VERSION FILE_VERSION: puts icon, manifest and version of hermes-acp.exe beside its
# source, where every Windows build takes them up. FILE_VERSION has four numbers.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh

go_tool go-winres github.com/tc-hib/go-winres@v0.3.3
"$tool" make --in winres/winres.json --out cmd/hermes-acp/rsrc --arch amd64,arm64 --product-version "$1" --file-version "$2"
