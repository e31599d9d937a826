#!/bin/sh
# package.sh - builds the Debian package and lives with it: in a fresh Debian,
# first without a service manager, then booted under systemd.
#
# usage: package.sh BUILD      (make package-test; root)
#
# Environment: MIRROR, of Debian; SUITE, by default the one that runs here. What
# debootstrap makes is kept in BUILD/package/base.tar. The network is used to
# install; the server runs in a network of its own. Where systemd cannot boot in
# a container, that part is left out, which is said.
#
# The same file runs inside: package.sh --inside plain|booted.
set -eu

say()
{
    printf '== %s\n' "$*"
}

die()
{
    printf 'package.sh: %s\n' "$*" >&2
    exit 1
}

# --- inside -------------------------------------------------------------------

# until COMMAND...: waits for it to succeed, half a minute at most.
until_()
{
    for _ in $(seq 150); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.2
    done
    die "waited in vain for: $*"
}

page()
{
    curl -sS --fail --max-time 10 "$@"
}

# expect TEXT COMMAND...: it prints that.
expect()
{
    text=$1
    shift
    printed=$("$@") || die "failed: $*"
    case $printed in
    *"$text"*) ;;
    *) die "no '$text' from $*: $printed" ;;
    esac
}

# Nothing of the package is left, but the user: files may still be hers.
expect_gone()
{
    left=$(find / -xdev \( -path /root -o -path /proc -o -path /sys \
        -o -path /run/systemd -o -path '/var/lib/apt/*' \
        -o -path '/var/log/journal/*' \) -prune -o -name '*sprintd*' -print)
    [ -z "$left" ] || die "left after purge: $left"
    [ ! -e /var/www ] || die "left after purge: /var/www"
}

url=http://localhost:8080

inside_plain()
{
    say 'installed without a service manager: it serves'
    id sprintd >/dev/null || die 'there is no user sprintd'
    sprintd -t -c /etc/sprintd/sprintd.conf
    sprintd -c /etc/sprintd/sprintd.conf &
    server=$!
    until_ page $url/
    expect 'sprintd serves this page' page $url/
    grep -q 'GET / HTTP/1.1" 200' /var/log/sprintd/access.log ||
        until_ grep -q 'GET / HTTP/1.1" 200' /var/log/sprintd/access.log
    kill "$server"
    wait "$server" || die "ended with $?"

    say 'removed: settings stay; purged: nothing does'
    echo '# mine' >>/etc/sprintd/sprintd.conf
    # As a service manager does, for LogsDirectory= and StateDirectory=.
    install -d -o sprintd /var/log/sprintd /var/lib/sprintd/store
    apt-get -q -q remove sprintd >/dev/null
    [ -d /var/lib/sprintd/store ]
    tail -n 1 /etc/sprintd/sprintd.conf | grep -q '^# mine$'
    [ ! -e /usr/bin/sprintd ]
    mkdir -p /var/www/html
    echo 'of another server' >/var/www/html/index.html
    cp /etc/sprintd/sprintd.conf /root/mine
    apt-get -q -q install /root/sprintd_*.deb >/dev/null
    cmp /root/mine /etc/sprintd/sprintd.conf
    apt-get -q -q purge sprintd >/dev/null
    expect 'of another server' cat /var/www/html/index.html
    rm -r /var/www /root/mine
    expect_gone
}

main_pid()
{
    systemctl show -P MainPID sprintd
}

is_other_pid()
{
    [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ]
}

inside_booted()
{
    say 'the pages: two sites'
    (cd /root && sh -e ./pages >/root/said 2>&1) || {
        cat /root/said
        systemctl status --no-pager -l sprintd || true
        die 'what the pages say fails'
    }
    for text in 'sprintd serves this page' 'this is blue' 'this is green'; do
        grep -q "$text" /root/said || die "the pages show no '$text'"
    done
    expect enabled systemctl is-enabled sprintd
    expect sprintd ps -o user= -p "$(main_pid)"
    systemctl is-enabled sprintd.socket | grep -q disabled
    systemctl show -P Result sprintd | grep -q success

    say 'reload: the same process'
    pid=$(main_pid)
    sed -i '1i header-set = {"X-Reloaded: yes"}' /etc/sprintd/sprintd.conf
    systemctl reload sprintd
    until_ sh -c "curl -sSI $url/ | grep -qi '^x-reloaded: yes'"
    [ "$(main_pid)" = "$pid" ] || die 'reload made another process'

    say 'reload of a faulty file: nothing changes'
    cp /etc/sprintd/sprintd.conf /root/good
    echo 'rooot = /x' >>/etc/sprintd/sprintd.conf
    systemctl reload sprintd || true
    expect 'this is blue' page -H 'Host: blue.example.org' $url/
    cp /root/good /etc/sprintd/sprintd.conf
    [ "$(main_pid)" = "$pid" ] || die 'a faulty file ended it'

    say 'logrotate: the log goes on in a new file'
    logrotate -f /etc/logrotate.d/sprintd
    [ -s /var/log/sprintd/access.log.1 ] || die 'no log was rotated'
    if [ -S /run/sprintd/control ]; then
        page $url/after-rotation >/dev/null 2>&1 || true
        until_ grep -q after-rotation /var/log/sprintd/access.log
    else
        echo '   there is no control socket: only renamed'
    fi

    say 'the timer of certificates: nothing is due'
    systemctl start sprintd-acme.timer
    systemctl start sprintd-acme.service
    expect success systemctl show -P Result sprintd-acme
    systemctl stop sprintd-acme.timer

    say 'crash: it is started again'
    kill -KILL "$pid"
    until_ is_other_pid "$pid"
    until_ page $url/

    say 'upgrade of the package: no request is lost'
    pid=$(main_pid)
    while [ ! -e /root/upgraded ]; do
        page $url/ >/dev/null 2>>/root/lost || true
        echo >>/root/asked
    done &
    dpkg -i /root/sprintd_*.deb >/dev/null
    until_ is_other_pid "$pid"
    until_ page $url/
    : >/root/upgraded
    wait "$!"
    expect active systemctl is-active sprintd
    [ -s /root/asked ] || die 'nothing was asked meanwhile'
    if [ -S /run/sprintd/control ] && [ -s /root/lost ]; then
        die "of $(wc -l </root/asked) requests were lost: $(cat /root/lost)"
    fi

    say 'port 80, which the service manager opens'
    systemctl stop sprintd
    sed -i 's/^port = .*/port = 80/' /etc/sprintd/sprintd.conf
    systemctl -q enable --now sprintd.socket
    systemctl start sprintd
    until_ page -H 'Host: blue.example.org' http://localhost/
    expect 'this is green' page -H 'Host: green.example.org' http://localhost/
    systemctl -q disable --now sprintd.socket sprintd
    sed -i 's/^port = .*/port = 8080/' /etc/sprintd/sprintd.conf
    systemctl -q enable --now sprintd
    until_ page $url/

    say 'stop, purge'
    systemctl stop sprintd
    expect success systemctl show -P Result sprintd
    if page $url/ >/dev/null 2>&1; then
        die 'it serves though it was stopped'
    fi
    systemctl start sprintd
    until_ page $url/
    apt-get -q -q purge sprintd >/dev/null
    if page $url/ >/dev/null 2>&1; then
        die 'it serves though it was purged'
    fi
    expect_gone
}

if [ "${1-}" = --inside ]; then
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
    "inside_$2"
    say "$2: all is well"
    exit 0
fi

# --- the package --------------------------------------------------------------

build=${1?usage: package.sh BUILD}
[ "$(id -u)" -eq 0 ] || die 'a fresh Debian can be made by root only'
# shellcheck disable=SC1091
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$build/package"
place=$(mktemp -d "$(realpath "$build")/package/XXXXXX")
trap 'rm -rf --one-file-system "$place"' EXIT
trap 'exit 130' INT TERM
root=$place/root

say 'builds; as another user, elsewhere, from the archive: the same bytes'
sh packaging/deb.sh "$build"
version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
deb=$(ls "$build/sprintd_${version}"_*.deb)
elsewhere=$(mktemp -d)
trap 'rm -rf --one-file-system "$place" "$elsewhere"' EXIT
sh packaging/dist.sh "$elsewhere" >/dev/null
tar -x -C "$elsewhere" -f "$elsewhere/sprintd-$version.tar.xz"
chown -R nobody "$elsewhere"
(
    umask 077
    cd "$elsewhere/sprintd-$version"
    setpriv --reuid nobody --regid nogroup --clear-groups \
        env -u MAKEFLAGS HOME="$elsewhere" sh packaging/deb.sh build
)
cmp "$deb" "$elsewhere/sprintd-$version/build/${deb##*/}"

say 'lintian'
lintian --allow-root --fail-on error,warning "$build"/deb/*.changes

# --- the fresh Debian ---------------------------------------------------------

base=$build/package/base.tar
if [ ! -s "$base" ]; then
    say "debootstrap $SUITE from $MIRROR"
    debootstrap --variant=minbase \
        --include=curl,dbus,iproute2,procps,systemd-sysv \
        "$SUITE" "$root" "$MIRROR" >"$place/log" 2>&1 || {
        tail -n 20 "$place/log" >&2
        die "no Debian to install in: debootstrap of $MIRROR failed"
    }
    tar -c -C "$root" -f "$base.new" . && mv "$base.new" "$base"
    rm -rf --one-file-system "$root"
fi
mkdir "$root"
tar -x -C "$root" -f "$base"
cp "$deb" "$root/root/"
cp "$0" "$root/root/package.sh"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
echo 'APT::Get::Assume-Yes "true"; Dpkg::Use-Pty "0";' \
    >"$root/etc/apt/apt.conf.d/90yes"
for page in README.md docs/configure.md; do
    python3 tests/e2e/pages.py list "$page" package
done >"$root/root/pages"
[ -s "$root/root/pages" ] || die 'no page has commands for a package'

# in_root [unshare's options] -- COMMAND...: in there, with /proc, whose mount
# goes when the command ends; and with it all that it left running.
in_root()
{
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086,SC2016
    unshare --mount --pid --fork --kill-child $options sh -c '
        mount -t proc proc "$1/proc"
        ip link set lo up
        root=$1
        shift
        exec chroot "$root" "$@"' sh "$root" "$@"
}

say 'apt install'
in_root -- sh -c 'export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install /root/sprintd_*.deb; } \
        >/root/log 2>&1 || { tail -n 30 /root/log; exit 1; }'
# Whom sprintd-acme trusts; what is installed by default, as it is recommended.
[ -s "$root/etc/ssl/certs/ca-certificates.crt" ] ||
    die 'no authority is trusted in a fresh Debian'
in_root --net -- sh /root/package.sh --inside plain
sh tests/package_https.sh "$root" plain

if ! command -v systemd-nspawn >/dev/null; then
    say 'no systemd-nspawn: not tried under systemd'
    exit 0
fi
say 'boots'
cat >"$root/etc/systemd/system/package-test.service" <<'END'
[Unit]
After=dbus.service

[Service]
ExecStart=/bin/sh -c 'echo booted >/root/result; \
    sh /root/package.sh --inside booted >>/root/result 2>&1 && \
    echo passed >>/root/result; systemctl poweroff'

[Install]
WantedBy=multi-user.target
END
ln -s ../package-test.service \
    "$root/etc/systemd/system/multi-user.target.wants/package-test.service"
timeout -k 10 300 systemd-nspawn -q -b -D "$root" --private-network \
    --register=no --keep-unit </dev/null >"$place/boot" 2>&1 || true
if [ ! -e "$root/root/result" ]; then
    tail -n 5 "$place/boot"
    say 'systemd does not boot in a container here: not tried under it'
    exit 0
fi
sed 1d "$root/root/result"
tail -n 1 "$root/root/result" | grep -q '^passed$' || die 'failed under systemd'
sh tests/package_https.sh "$root" booted
sh tests/package_https.sh "$root" apart
