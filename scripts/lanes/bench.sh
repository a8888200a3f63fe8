# Benchmarks, as a table: those of all packages, for a third of a second each unless
# HERMES_ACP_BENCHTIME says else, and then those of a driver that knows no agent, when
# HERMES_ACP_BENCH_DIR names its folder. That has two Go programs, driver (takes -name, -cwd, -runs,
# -tests, -env and a command, and prints NAME TEST RUN METRIC VALUE UNIT, parted by tabs) and mock (a
# model server on 127.0.0.1:8765, takes -file and -write).
set -eu
. scripts/lib.sh

go test -run '^$' -bench . -benchmem -benchtime "${HERMES_ACP_BENCHTIME:-300ms}" ./... | awk '
	/^pkg:/ { print $2 }
	/^(--- )?FAIL/ { print; failed = 1 }
	/^Benchmark/ {
		sub(/^Benchmark/, "", $1)
		line = sprintf("  %-52s %8d", $1, $2)
		for (i = 3; i < NF; i += 2) line = line sprintf(" %12s %-8s", $i, $(i + 1))
		print line
	}
	END { exit failed }'

bench=${HERMES_ACP_BENCH_DIR:-}
[ -n "$bench" ] || exit 0

out=$(mktemp -d)
mock=
trap '[ -z "$mock" ] || kill "$mock" 2>/dev/null || true; rm -rf "$out"' EXIT
say ""
say "building the driver and the mock of $bench"
for program in driver mock; do
	(cd "$bench/$program" && go build -o "$out/$program" .)
done
release_build -o "$out/hermes-acp"
mkdir -p "$out/home/.hermes" "$out/work"
echo hello >"$out/work/hello.txt"
cat >"$out/home/.hermes/.env" <<EOF
OPENAI_BASE_URL=http://127.0.0.1:8765/v1
OPENAI_API_KEY=bench
HERMES_MODEL=bench
EOF
"$out/mock" -file "$out/work/hello.txt" -write "$out/work/out.txt" >"$out/mock.log" 2>&1 &
mock=$!
sleep 1
kill -0 "$mock" 2>/dev/null || {
	cat "$out/mock.log"
	exit 1
}

# measure NAME TEST CWD COMMAND...
measure() {
	"$out/driver" -name "$1" -runs "${HERMES_ACP_BENCH_RUNS:-5}" -tests "$2" -cwd "$3" -env HOME="$out/home" -- "${@:4}" >>"$out/figures" 2>"$out/driver.log" || {
		cat "$out/driver.log"
		exit 1
	}
}

# The same program behind the launcher, for an editor on a simulated Windows: the test binary of
# cmd/hermes-acp is the launcher and wsl.exe. The driver starts it in the folder that it names to it,
# so on this machine there has to be one whose name is spelled as on Windows.
ways=alone
if [ "$(uname -s)" = Linux ]; then
	ways="alone bridged"
	go test -c -o "$out/windows" ./cmd/hermes-acp
	mkdir -p "$out/home/.local/bin"
	ln -s "$out/hermes-acp" "$out/home/.local/bin/hermes-acp"
	printf '{"distros": [{"name": "Ubuntu", "guid": "{u}", "default": true, "home": "%s"}], "log": "%s"}' "$out/home" "$out/wsl.log" >"$out/wsl.json"
	unc="\\\\wsl.localhost\\Ubuntu${out//\//\\}\\work"
	mkdir "$out/$unc"
fi
for test in start prompt tool stream many load; do
	for way in $ways; do
		say "$test, $way"
		case $way in
		alone) measure alone $test "$out/work" "$out/hermes-acp" ;;
		bridged) (cd "$out" && measure bridged $test "$unc" env HERMES_ACP_TEST_PROGRAM=launcher WSLSIM_CONFIG="$out/wsl.json" "$out/windows") ;;
		esac
	done
done

say ""
say "medians of the driver's figures"
sort -t "$(printf '\t')" -k2,2 -k4,4 -k1,1 -k5,5n "$out/figures" | awk -F '\t' '
	function median(   m) { m = int((n + 1) / 2); return n % 2 ? v[m] : (v[m] + v[m + 1]) / 2 }
	function flush() { if (n) result[key, name] = median(); n = 0 }
	{
		if ($2 "\t" $4 != key || $1 != name) flush()
		if ($2 "\t" $4 != key) { keys[++count] = $2 "\t" $4; unit[$2 "\t" $4] = $6 }
		key = $2 "\t" $4; name = $1; v[++n] = $5
	}
	END {
		flush()
		printf "  %-8s %-22s %12s %12s\n", "test", "metric", "alone", "bridged"
		for (i = 1; i <= count; i++) {
			split(keys[i], part, "\t")
			printf "  %-8s %-22s %12s %12s %s\n", part[1], part[2], shown("alone"), shown("bridged"), unit[keys[i]]
		}
	}
	function shown(who) { return (keys[i], who) in result ? sprintf("%.2f", result[keys[i], who]) : "" }'
