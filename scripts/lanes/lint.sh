# golangci-lint, for what runs on Linux and for what runs on Windows; then a
# proof that each import rule catches a planted violation.
set -eu
. scripts/lib.sh

go_tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 || skip "golangci-lint could not be built (is the network there?)"

for goos in linux windows; do
	say "lint $goos"
	GOOS=$goos "$tool" run --allow-parallel-runners ./...
done

say "import rules"
# DIRECTORY IMPORT, one violation a line.
violations="
pathxlate os
pathxlate $module/wslbridge
agent $module/acp
agent github.com/coder/acp-go-sdk
agent github.com/sashabaranov/go-openai
agent golang.org/x/sync/errgroup
agent go.yaml.in/yaml/v3
agent modernc.org/sqlite
agent mvdan.cc/sh/v3/syntax
agent database/sql
agent net/http
agent os/exec
agent/llm $module/agent/config
agent/llm $module/pathxlate
agent/llm/offline $module/agent/tools
agent/tools $module/agent/store
agent/tools github.com/coder/acp-go-sdk
agent/store $module/agent/llm
agent/store $module/pathxlate
agent/mcp $module/agent/tools
agent/config $module/agent/llm
agent/config $module/acp
wslbridge $module/acp
wslbridge $module/agent
wslbridge $module/agent/config
wslbridge github.com/coder/acp-go-sdk
wslbridge net/http
acp $module/wslbridge
acp $module/pathxlate
acp $module/agent/store
acp/acpclient $module/wslbridge
acp log
agent github.com/stretchr/testify/assert
wslbridge $module/cmd/hermes-acp
"
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cp go.mod go.sum .golangci.yml "$planted/"
# What the violations import has to exist: empty packages of ours, and testify,
# which is in no go.mod of ours.
for dir in pathxlate agent agent/llm agent/tools agent/store agent/config wslbridge acp cmd/hermes-acp testify/assert; do
	mkdir -p "$planted/$dir"
	printf 'package planted\n' >"$planted/$dir/doc.go"
done
printf 'module github.com/stretchr/testify\n' >"$planted/testify/go.mod"
(cd "$planted" && go mod edit -require github.com/stretchr/testify@v0.0.0 -replace github.com/stretchr/testify=./testify)
# Each violation stands in a folder of its own, so that no two make a cycle.
n=0
while read -r dir import; do
	[ -n "$dir" ] || continue
	n=$((n + 1))
	mkdir -p "$planted/v$n/$dir"
	printf 'package planted\n\nimport _ "%s"\n' "$import" >"$planted/v$n/$dir/violation.go"
	printf 'v%s/%s/violation.go %s\n' "$n" "$dir" "$import"
done <<EOF >"$planted/expected"
$violations
EOF
(cd "$planted" && GOFLAGS=-mod=mod "$tool" run --allow-parallel-runners --enable-only depguard --output.text.print-issued-lines=false ./...) >"$planted/found" 2>&1 || true
missed=0
while read -r file import; do
	grep -q "^$file:.*$import.*depguard" "$planted/found" || {
		say "no rule caught: $file importing $import"
		missed=1
	}
done <"$planted/expected"
[ "$missed" = 0 ] || tail -5 "$planted/found"
exit "$missed"
