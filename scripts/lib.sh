# shellcheck shell=bash disable=SC2034 # variables are for whoever sources this
# Shared by scripts/test and its lanes. Sourced; bash 3.2 is enough.

export GOFLAGS="${GOFLAGS:-} -mod=readonly"
# A program with the race detector sleeps for a second as it ends, and tests start hundreds.
export GORACE="${GORACE:-} atexit_sleep_ms=0"
tools=${HERMES_ACP_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/hermes-acp/tools}
module=github.com/hermes-acp/hermes-acp

say() { printf '%s\n' "$*"; }

# skip REASON ends a lane that cannot run here; scripts/test decides whether
# that may be.
skip() {
	say "SKIP: $*"
	exit 77
}

# apt_install PACKAGE... installs Debian packages, on a root Debian machine only,
# and asks first unless CI=true. It fails where it may not or cannot.
apt_install() {
	command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 1
	if [ "${CI:-}" != true ]; then
		[ -t 0 ] || return 1
		printf 'This lane needs these Debian packages: %s\nInstall them now with apt-get? [y/N] ' "$*"
		read -r answer
		case $answer in y | Y | yes) ;; *) return 1 ;; esac
	fi
	say "installing with apt-get: $*"
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# go_tool NAME PACKAGE@VERSION builds a Go program into $tools once and puts its
# path into $tool.
go_tool() {
	tool=$tools/$1-${2##*@}
	[ -x "$tool" ] && return 0
	say "building $2"
	mkdir -p "$tools"
	staging=$(mktemp -d "$tools/staging.XXXXXX")
	# Not in this module: a tool's own dependencies must not touch ours.
	if (cd "$staging" && GOFLAGS='' GOBIN="$staging" go install "$2"); then
		mv "$staging/$1" "$tool" && rm -rf "$staging"
	else
		rm -rf "$staging"
		return 1
	fi
}

# release_build FLAG... builds hermes-acp as a release does; .goreleaser.yaml has
# the same flags. More tags go behind those of $release_tags.
release_tags=urfave_cli_no_docs
release_build() {
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -tags="$release_tags" "$@" ./cmd/hermes-acp
}

# at_most MIB FILE fails when the file is larger.
at_most() {
	local kib=$(($(wc -c <"$2") / 1024))
	say "${2##*/} has $kib KiB"
	[ "$kib" -le $(($1 * 1024)) ] || {
		say "that is more than $1 MiB"
		return 1
	}
}
