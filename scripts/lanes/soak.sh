# The long versions, for a night or a release: kills and writers of the store, starts and stops of
# the bridge, three rounds of race tests, two minutes of each fuzz target. More than an hour.
set -eu
. scripts/lib.sh

say "the store: 200 kills, long writers"
HERMES_ACP_SOAK=1 go test -count=1 -timeout 30m ./agent/store
say "the bridge: 20 x 20 starts and stops"
go test -count=20 -timeout 30m -run '^TestW37_' ./wslbridge
say "race tests, three rounds"
go test -race -count=3 -timeout 60m ./...
HERMES_ACP_FUZZTIME=${HERMES_ACP_FUZZTIME:-2m} bash scripts/lanes/fuzz.sh
