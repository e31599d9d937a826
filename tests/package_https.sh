#!/bin/sh
# package_https.sh - a fresh Debian with the package and two lines of settings:
# a browser shows the site by HTTPS within five seconds of the start, and again
# after three renewals in a minute, of which 200 requests a second lose none.
#
# usage: package_https.sh ROOT plain|booted|apart     (package.sh does; root)
#
# plain: without a service manager; booted: under systemd; apart: under systemd,
# which starts sprintd-acme as another user, who alone has the account. Then the
# server looks for what is new by itself, which takes longer.
#
# ROOT is the fresh Debian, with sprintd_*.deb in /root, and is left without the
# package. The authority (Pebble), the browser and who asks 200 times a second
# stay outside, in the same network, which is no other's: so nothing is
# installed in ROOT for them. Without chromium and certutil curl stands for the
# browser, without Pebble nothing is tried; both are said.
#
# Environment: PEBBLE, the program; FIRST_PAGE_S, other seconds than five, where
# a machine is slow. Where others keep the CPUs busy, seconds say nothing of the
# server: then they are printed, and not judged.
#
# The same file runs inside: package_https.sh --inside plain|booted|apart.
set -eu

FIRST_PAGE_S=${FIRST_PAGE_S:-5}
PAGE_S=60 # whatever the machine does
PEBBLE_LIFE_S=30 # of certificates: they are renewed at half of that
RENEWALS_S=60

say()
{
    printf '== %s\n' "$*"
}

die()
{
    printf 'package_https.sh: %s\n' "$*" >&2
    exit 1
}

# until_ COMMAND...: waits for it to succeed, a minute at most.
until_()
{
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.2
    done
    die "waited in vain for: $*"
}

# --- inside -------------------------------------------------------------------

configure()
{
    apt-get -q -q install /root/sprintd_*.deb >/dev/null
    printf certified >/var/www/html/index.html
    # The two lines, and those that make another authority known than the one
    # that everybody trusts.
    cat >>/etc/sprintd/sprintd.conf <<'END'
listen = {"https://:443", "http://:80"}
https = "example.org"
acme-directory = {"https://127.0.0.1:14000/dir"}
acme-ca = /etc/sprintd/authority.crt
END
    cp /root/authority.crt /etc/sprintd/authority.crt
    sprintd -t -c /etc/sprintd/sprintd.conf
}

# As docs/https.md has it.
part()
{
    cat >>/etc/sprintd/sprintd.conf <<'END'
acme-start = off
acme-folder = /var/lib/sprintd-acme
END
}

# When it began is written whole, as somebody waits for it.
begin()
{
    until_ test -e /root/go
    date +%s%N >/root/began.new
    mv /root/began.new /root/began
}

serve_plain()
{
    begin
    sprintd -c /etc/sprintd/sprintd.conf >/root/server.log 2>&1 &
    server=$!
    until_ test -e /root/end
    kill "$server"
    wait "$server" || die "the server ended with $?"
}

# as USER COMMAND...
as()
{
    user=$1
    shift
    setpriv --reuid "$user" --regid sprintd --clear-groups "$@"
}

expect_apart()
{
    live=/var/lib/sprintd-acme/live/example.org.pem
    [ "$(stat -c '%U %G %a' $live)" = 'sprintd-acme sprintd 640' ] ||
        die "$(ls -l $live)"
    as sprintd cat $live >/dev/null || die 'the server cannot read'
    for file in /var/lib/sprintd-acme/accounts/*/key.pem; do
        as sprintd-acme cat "$file" >/dev/null || die "no $file"
        if as sprintd cat "$file" >/dev/null 2>&1; then
            die "the server reads $file"
        fi
    done
    if as sprintd touch ${live%/*}/other 2>/dev/null; then
        die "the server writes in ${live%/*}"
    fi
    sprintd acme status || die 'the status is not 0'
    [ ! -e /var/lib/sprintd/acme ] || die 'there is a second folder'
}

serve_apart()
{
    part
    serve_booted
}

# As docs/https.md has it.
serve_booted()
{
    systemctl -q stop sprintd
    mkdir -p /etc/systemd/system/sprintd.socket.d
    printf '[Socket]\nListenStream=443\n' \
        >/etc/systemd/system/sprintd.socket.d/override.conf
    systemctl daemon-reload
    begin
    systemctl -q enable --now sprintd.socket
    systemctl start sprintd
    [ "$how" != apart ] || systemctl -q enable --now sprintd-acme.timer
    until_ test -e /root/end
    if [ "$how" = apart ]; then
        expect_apart
        systemctl -q disable --now sprintd-acme.timer
    fi
    systemctl is-active sprintd >/dev/null || die 'the service is not active'
    systemctl -q stop sprintd sprintd.socket
    [ "$(systemctl show -P Result sprintd)" = success ] ||
        die 'the service failed'
    journalctl -q --no-pager -o cat -u sprintd >/root/server.log || true
    rm -r /etc/systemd/system/sprintd.socket.d
}

if [ "${1-}" = --inside ]; then
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
    how=$2
    configure
    : >/root/configured
    "serve_$how"
    apt-get -q -q purge sprintd >/dev/null
    rm -rf /var/www /etc/sprintd # where the authority's certificate is
    : >/root/served
    exit 0
fi

# --- the authority ------------------------------------------------------------

# in_net COMMAND...: in the network of the fresh machine.
in_net()
{
    nsenter --target "$net" --net "$@"
}

. tests/pebble.sh

# --- the machine --------------------------------------------------------------

start_plain()
{
    # shellcheck disable=SC2016
    in_net unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc"
        exec chroot "$1" sh /root/package_https.sh --inside plain' \
        sh "$root" >"$place/machine" 2>&1 </dev/null &
    children="$children $!"
}

start_booted()
{
    sed "s/HOW/$how/" >"$root/etc/systemd/system/package-test.service" <<'END'
[Unit]
After=dbus.service

[Service]
ExecStart=/bin/sh -c 'sh /root/package_https.sh --inside HOW \
    >/root/machine 2>&1; systemctl poweroff'

[Install]
WantedBy=multi-user.target
END
    ln -sf ../package-test.service \
        "$root/etc/systemd/system/multi-user.target.wants/package-test.service"
    timeout -k 10 300 systemd-nspawn -q -b -D "$root" \
        --network-namespace-path="/proc/$net/ns/net" --register=no \
        --keep-unit </dev/null >"$place/machine" 2>&1 &
    children="$children $!"
}

start_apart()
{
    start_booted
}

# What can be known of a machine that does not do as it should.
tell()
{
    tail -n 20 "$place/machine" "$root/root/machine" "$root/root/server.log" \
        2>/dev/null || true
    die "$*"
}

# --- who looks ----------------------------------------------------------------

# browse SECONDS BEGAN: "MILLISECONDS AUTHORITY", as the browser sees the page;
# the file BEGAN has the time that is counted from.
browse()
{
    if [ -n "$browser" ]; then
        HOME=$place/home in_net python3 tests/e2e/browser.py \
            https://example.org/ certified "$1" "$place/ready" "$2" \
            '--host-resolver-rules=MAP example.org 127.0.0.1'
        return
    fi
    : >"$place/ready"
    until_ test -e "$2"
    end=$(($(cat "$2") / 1000000 + $1 * 1000))
    until in_net curl -fsS --noproxy '*' -m 5 --cacert "$place/root.pem" \
        --resolve example.org:443:127.0.0.1 https://example.org/ \
        2>"$place/why" | grep -q certified; do
        if [ "$(($(date +%s%N) / 1000000))" -gt "$end" ]; then
            cat "$place/why"
            return 1
        fi
        sleep 0.05
    done
    echo "$(($(date +%s%N) / 1000000 - end + $1 * 1000)) (curl)"
}

prepare_browser()
{
    browser=
    if ! command -v chromium >/dev/null || ! command -v certutil >/dev/null; then
        say 'no chromium with certutil (libnss3-tools): curl stands for them'
        return 0
    fi
    browser=chromium
    mkdir -p "$place/home/.pki/nssdb"
    certutil -d "sql:$place/home/.pki/nssdb" -N --empty-password
    certutil -d "sql:$place/home/.pki/nssdb" -A -t C,, -n pebble \
        -i "$place/root.pem"
}

# Others keep the CPUs busy.
is_busy()
{
    running=$(sed 's/\..*//' /proc/loadavg)
    [ "$running" -ge $((2 * $(nproc))) ]
}

# judge FILE: what browse() printed.
judge()
{
    read -r ms authority <"$1"
    say "shown after $ms ms; its authority: $authority"
    [ "$how" != apart ] || return 0
    [ "$ms" -gt $((FIRST_PAGE_S * 1000)) ] || return 0
    is_busy || tell "that is more than $FIRST_PAGE_S s"
    say "$running processes want to run: the $FIRST_PAGE_S s are not judged"
}

# The certificate that is shown, as its number.
shown()
{
    in_net openssl s_client -connect 127.0.0.1:443 -servername example.org \
        </dev/null 2>/dev/null | openssl x509 -noout -serial
}

# Waits for the certificate to be another one than $certificate.
await_renewal()
{
    until [ "$(date +%s)" -gt "$limit" ]; do
        now=$(shown) || now=$certificate
        if [ "$now" != "$certificate" ]; then
            certificate=$now
            return 0
        fi
        sleep 0.3
    done
    tell "fewer than three renewals in $RENEWALS_S s"
}

# --- renewals -------------------------------------------------------------------

renew_under_load()
{
    say 'three renewals in a minute, at 200 requests a second'
    certificate=$(shown)
    # By two, as one of them may be slower than that on a machine with much to do.
    for half in 1 2; do
        in_net python3 tests/e2e/steady.py 443 example.org "$place/root.pem" 100 \
            "$place/stop" >"$place/asked.$half" 2>&1 &
        children="$children $!"
        eval "load_$half=\$!"
    done
    began=$(date +%s)
    limit=$((began + RENEWALS_S))
    for _ in 1 2 3; do
        await_renewal
    done
    took=$(($(date +%s) - began))
    rm -f "$place/ready"
    date +%s%N >"$place/again"
    browse "$PAGE_S" "$place/again" >"$place/second" ||
        tell "no page after the renewals: $(cat "$place/second")"
    : >"$place/stop"
    asked=0
    for half in 1 2; do
        eval "wait \$load_$half" ||
            tell "who asked has ended: $(tail -n 3 "$place/asked.$half")"
        read -r count failed <<END
$(tail -n 1 "$place/asked.$half")
END
        [ "$failed" -eq 0 ] ||
            tell "of $count requests failed: $(cat "$place/asked.$half")"
        asked=$((asked + count))
    done
    if [ "$asked" -lt $((took * 100)) ]; then
        is_busy || tell "only $asked requests in $took s: too few for a load"
        say "$running processes want to run: few requests are no fault"
    fi
    say "three renewals in $took s, none of $asked requests failed; shown again"
}

# --- all ----------------------------------------------------------------------

root=$(realpath "${1?usage: package_https.sh ROOT plain|booted|apart}")
how=${2?usage: package_https.sh ROOT plain|booted|apart}
if ! find_pebble; then
    say 'no pebble (with pebble-challtestsrv): HTTPS is not tried'
    exit 0
fi
[ "$how" != apart ] || PEBBLE_LIFE_S=864000
place=$(mktemp -d)
children=
end_all()
{
    # shellcheck disable=SC2086
    [ -z "$children" ] || kill $children 2>/dev/null || true
    wait
    rm -rf --one-file-system "$place"
}
trap end_all EXIT
trap 'exit 130' INT TERM

unshare --net sleep 600 &
net=$!
children=$net
until_ sh -c "! [ /proc/$net/ns/net -ef /proc/self/ns/net ]"
in_net ip link set lo up
start_authority
prepare_browser
for file in configured go began end served machine server.log; do
    rm -f "$root/root/$file"
done
cp "$place/authority.crt" "$root/root/authority.crt"
cp "$0" "$root/root/package_https.sh"
"start_$how"
tries=0
until [ -e "$root/root/configured" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || tell 'the package cannot be installed and configured'
    sleep 0.2
done

say "HTTPS, $how: the first page"
browse "$PAGE_S" "$root/root/began" >"$place/first" &
looking=$!
until_ test -e "$place/ready"
: >"$root/root/go"
wait "$looking" || tell "no page within $PAGE_S s: $(cat "$place/first")"
judge "$place/first"

[ "$how" = apart ] || renew_under_load
: >"$root/root/end"
tries=0
until [ -e "$root/root/served" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || tell 'it does not end as it should'
    sleep 0.2
done
rm -f "$root/etc/systemd/system/multi-user.target.wants/package-test.service"
