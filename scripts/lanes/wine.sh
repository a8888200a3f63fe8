# The real hermes-acp.exe under Wine: its Win32 calls, pipes and job objects, against a simulated
# wsl.exe that starts the real Linux program. Nothing here shows how Windows or WSL behave.
set -eu
. scripts/lib.sh

[ "$(uname -sm)" = "Linux x86_64" ] || skip "Wine runs the programs of this lane on Linux on x86-64 only"
command -v wine >/dev/null 2>&1 || apt_install wine wine64 || skip "wine is not here (Debian: apt-get install --no-install-recommends wine wine64)"

out=$(mktemp -d)
export WINEPREFIX="${HERMES_WINEPREFIX:-$tools/wine}" WINEARCH=win64 WINEDEBUG=-all
export WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe="
unset DISPLAY || true
trap 'wineserver -k >/dev/null 2>&1 || true; rm -rf "$out"' EXIT

quietly() { "$@" </dev/null >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }; }

# One prefix (about 700 MB), made once.
if [ ! -e "$WINEPREFIX/hermes-ready" ]; then
	mkdir -p "$(dirname "$WINEPREFIX")"
	quietly wine wineboot --init
	go run ./wslbridge/wslbridgetest/bcryptdll "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
	quietly wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f
	drives=$WINEPREFIX/dosdevices
	distro=$WINEPREFIX/distro
	mkdir -p "$drives/unc/wsl.localhost" "$drives/unc/wsl\$" "$drives/unc/server/share" "$distro/home/u"
	ln -sfn "$distro" "$drives/unc/wsl.localhost/Ubuntu"
	ln -sfn "$distro" "$drives/unc/wsl\$/Ubuntu"
	ln -sfn unc/server/share "$drives/n:"
	ln -sfn unc/wsl.localhost/Ubuntu "$drives/w:"
	for drive in n w; do
		quietly wine reg add 'HKLM\Software\Wine\Drives' /v "$drive:" /d network /f
	done
	lxss='HKCU\Software\Microsoft\Windows\CurrentVersion\Lxss'
	for name in Ubuntu Débian-ü docker-desktop; do
		key="$lxss\\{00000000-0000-0000-0000-$(printf %s "$name" | cksum | cut -c1-9)000}"
		quietly wine reg add "$key" /v DistributionName /d "$name" /f
		quietly wine reg add "$key" /v Version /t REG_DWORD /d 2 /f
		quietly wine reg add "$key" /v State /t REG_DWORD /d 1 /f
		[ "$name" = docker-desktop ] && quietly wine reg add "$lxss" /v DefaultDistribution /d "${key##*\\}" /f
	done
	wineserver -k || true
	wineserver -w || true
	touch "$WINEPREFIX/hermes-ready"
fi
# The services that the first program starts would inherit, and hold open, whatever it writes to.
wineserver -p600 >/dev/null 2>&1 || true
quietly wine wineboot

say "building"
export CGO_ENABLED=0
release_build -o "$out/hermes-acp"
go build -o "$out/broker" ./wslbridge/wslbridgetest/broker
GOOS=windows go build -o "$WINEPREFIX/drive_c/windows/system32/wsl.exe" ./wslbridge/wslbridgetest/wsl
scripts/embed-agent.sh "$out/hermes-acp" "$out/payload"
GOOS=windows release_build -tags "$release_tags,embed_agent" -overlay "$out/payload/overlay.json" -o "$out/hermes-acp.exe"
at_most 25 "$out/hermes-acp.exe"

# Wine 8 does not know the call by which Go removes files (STATUS_NOT_IMPLEMENTED); the copy of Go's
# source falls back to the older one.
say "the Windows tests of pathxlate and wslbridge"
removal=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/case STATUS_INVALID_INFO_CLASS,/case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,/' "$removal" >"$out/at_windows.go"
cmp -s "$removal" "$out/at_windows.go" && say "note: Go's source has changed; folders of tests may not be removed"
printf '{"Replace": {"%s": "%s"}}' "$removal" "$out/at_windows.go" >"$out/removal.json"
cat >"$out/winexec" <<'SH'
#!/bin/sh
log=$(mktemp)
wine "$@" >"$log" 2>&1 </dev/null
code=$?
cat "$log"
rm -f "$log"
exit $code
SH
chmod +x "$out/winexec"
GOOS=windows go test -overlay "$out/removal.json" -exec "$out/winexec" -timeout 120s ./pathxlate/... ./wslbridge/...

say "the program"
HERMES_WINE_LANE="$out" go test -count=1 -timeout 300s -run 'Wine' ./cmd/hermes-acp
