#!/bin/sh
# fresh.sh - `make test` as a newcomer does it: in a Debian that has git, make
# and gcc, and nothing else that anybody asked for.
#
# usage: fresh.sh BUILD      (make fresh-test; root)
#
# Environment: MIRROR, of Debian; SUITE, by default the one that runs here. What
# debootstrap makes is kept in BUILD/fresh/base.tar. Where no such Debian can be
# had, a line "== no fresh Debian: " says why, and the status is 77.
set -eu

say()
{
    printf '== %s\n' "$*"
}

give_up()
{
    say "no fresh Debian: $*"
    exit 77
}

build=${1?usage: fresh.sh BUILD}
[ "$(id -u)" -eq 0 ] || give_up 'only root can make one'
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || give_up 'debootstrap is missing'
# shellcheck disable=SC1091
SUITE=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME-}")}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$build/fresh"
place=$(mktemp -d "$(realpath "$build")/fresh/XXXXXX")
trap 'rm -rf --one-file-system "$place"' EXIT
trap 'exit 130' INT TERM
root=$place/root

base=$build/fresh/base.tar
if [ ! -s "$base" ]; then
    say "debootstrap $SUITE from $MIRROR"
    debootstrap --variant=minbase --include=gcc,git,libc6-dev,make \
        "$SUITE" "$root" "$MIRROR" >"$place/log" 2>&1 || {
        tail -n 5 "$place/log"
        give_up "debootstrap of $MIRROR failed"
    }
    tar -c -C "$root" -f "$base.new" . && mv "$base.new" "$base"
    rm -rf --one-file-system "$root"
fi
mkdir "$root"
tar -x -C "$root" -f "$base"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
# Whatever installs Debian writes these; debootstrap leaves it to that.
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
sh packaging/dist.sh "$place" >/dev/null
mkdir "$root/root/sprintd"
tar -x -C "$root/root/sprintd" --strip-components=1 \
    -f "$place"/sprintd-*.tar.gz

# in_root COMMAND: in there, by a shell, with none of our environment but the
# way to the network. With us end the command, all that it started, and mounts.
# A signal must not wait for the command, which as process 1 may ignore it.
in_root()
{
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" &&
        mount --rbind /sys "$1/sys" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts" &&
        ln -sf pts/ptmx "$1/dev/ptmx" &&
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
        exec chroot "$1" env -i HOME=/root PATH="$PATH" LC_ALL=C.UTF-8 \
            ${http_proxy:+"http_proxy=$http_proxy"} sh -c "$2"
    ' sh "$root" "$1" </dev/null &
    inside=$!
    trap 'kill -KILL "$inside"; wait "$inside"; exit 130' INT TERM
    status=0
    wait "$inside" || status=$?
    trap 'exit 130' INT TERM
    return "$status"
}

in_root 'apt-get -q -q update' ||
    give_up 'it cannot be entered, or apt-get update fails in it'
say 'make test, in a fresh Debian'
in_root 'cd /root/sprintd && make test WERROR=1'
