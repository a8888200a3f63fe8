# $1 SHA-256 and $2 size in bytes of the agent's binary, both empty when there is none to send;
# $3 its version; the rest are its arguments.
sum=$1 size=$2 version=$3
shift 3
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin
export PATH
cd || cd /
store=$HOME/.local/share/hermes-acp/bin
bin=$store/$sum/hermes-acp
[ -n "$sum" ] && [ -x "$bin" ] && exec "$bin" "$@"
for dir in /usr/bin /usr/local/bin "$HOME/.local/bin"; do
	[ -x "$dir/hermes-acp" ] &&
		[ "$("$dir/hermes-acp" --version </dev/null 2>/dev/null)" = "$version" ] &&
		exec "$dir/hermes-acp" "$@"
done
new=$store/.new.$$
fail() {
	rm -f "$new" 2>/dev/null
	echo "hermes-acp-bootstrap: failed $1"
	exit 1
}
[ -n "$sum" ] || fail missing
if command -v sha256sum >/dev/null; then
	hash() { sha256sum "$1"; }
elif command -v shasum >/dev/null; then
	hash() { shasum -a 256 "$1"; }
else
	fail sha256sum
fi
umask 077
mkdir -p "$store/$sum" || fail store
echo "hermes-acp-bootstrap: send"
head -c "$size" >"$new" || fail space
found=$(hash "$new")
[ "${found%% *}" = "$sum" ] || fail mismatch
chmod 700 "$new"
"$new" --version </dev/null >/dev/null || fail exec
mv -f "$new" "$bin" || fail store
exec "$bin" "$@"
