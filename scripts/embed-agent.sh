#!/bin/sh
# embed-agent.sh LINUX_BINARY DIR: writes to DIR what a build of hermes-acp.exe with -tags embed_agent
# embeds, and DIR/overlay.json, which lets `go build -overlay` take it from there.
set -eu
binary=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
into=$(cd "$(dirname "$0")/../cmd/hermes-acp" && pwd)/payload
gzip -9nc "$binary" >"$dir/hermes-acp.gz"
sum=$(sha256sum "$binary")
echo "${sum%% *} $(wc -c <"$binary")" >"$dir/hermes-acp.sum"
cat >"$dir/overlay.json" <<JSON
{"Replace": {
	"$into/hermes-acp.gz": "$dir/hermes-acp.gz",
	"$into/hermes-acp.sum": "$dir/hermes-acp.sum"
}}
JSON
