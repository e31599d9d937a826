#!/bin/sh
# container.sh - the container image: its files are enough and few, the server
# is a good process 1 and gets certificates by itself, and where buildah or podman
# is there it is built and run.
#
# Environment: BUILD, where the release was built; PEBBLE, the authority's program.
# Prints what cmocka prints.
#
# An image is built from a Debian that has to be fetched:
# seconds: 900
set -u

BUILD=${BUILD:-build}
PATH=$PATH:/usr/sbin:/sbin
export BUILD PATH
. tests/e2e/ok.sh
. tests/pebble.sh

root=$place/root
BYTES_MAX=30000000

its_files_are_small()
{
    sh packaging/container.sh "$BUILD/release/sprintd" "$root"
    tar -c -C "$root" . | gzip >"$place/image.tar.gz"
    [ "$(stat -c %s "$place/image.tar.gz")" -lt "$BYTES_MAX" ]
}

# A network of its own, where any port is anybody's, as in containers.
make_network()
{
    unshare --net sh -c '
        echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
        ip link set lo up && : >"$1" && exec sleep 300' sh "$place/network" &
    network=$!
    tries=0
    until [ -e "$place/network" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ]
        sleep 0.1
    done
    rm "$place/network"
}

in_net()
{
    nsenter --target "$network" --net "$@"
}

# start_as_process_1 ARGUMENT...: in a tree of processes and mounts of its own,
# in that network, where the server is process 1, as the image's user; as a
# container's runtime does, with /proc and /dev. $server is its number out here.
start_as_process_1()
{
    mkdir -p "$root/dev"
    # shellcheck disable=SC2016
    env -i "$(sed -n 's/^ENV //p' packaging/Containerfile)" PATH="$PATH" \
        HOME=/srv nsenter --target "$network" --net \
        unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        root=$1
        shift
        exec chroot --userspec=10001:10001 "$root" /usr/bin/sprintd "$@"
        ' sh "$root" "$@" >"$place/out" 2>&1 &
    unshared=$!
    tries=0
    server=
    # The kernel may leave a child out while the list of them changes.
    until grep -q 'serving /srv/www' "$place/out" && [ -n "$server" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ]
        sleep 0.1
        server=$(cat "/proc/$unshared/task/$unshared/children")
        server=${server% }
    done
}

# inside COMMAND...: where that server is, as its user.
inside()
{
    nsenter --target "$server" --net --mount --pid \
        chroot --userspec=10001:10001 "$root" "$@"
}

it_serves_as_process_1()
{
    make_network
    trap 'kill -KILL "$network"' EXIT
    start_as_process_1 --config /etc/sprintd/sprintd.conf
    trap 'kill -KILL "$server" "$network"' EXIT
    inside /usr/bin/sprintd ctl status | grep 'process 1: serving'
    inside /usr/bin/sprintd top --once http://127.0.0.1:8080/_sprintd |
        grep 'sprintd'
    nsenter --target "$server" --net \
        bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080
            printf "GET / HTTP/1.0\r\nHost: x\r\n\r\n" >&3
            head -n 1 <&3' | grep '^HTTP/1.1 200 '
    grep '"GET / HTTP/1.0" 200' "$place/out" || {
        sleep 2
        grep '"GET / HTTP/1.0" 200' "$place/out"
    }
    sed -n 's/^Uid:\t//p' "/proc/$server/status" | grep '^10001'
}

# What is a signal's default does not happen to process 1.
it_takes_signals_as_process_1()
{
    make_network
    trap 'kill -KILL "$network"' EXIT
    start_as_process_1 --config /etc/sprintd/sprintd.conf
    trap 'kill -KILL "$server" "$network"' EXIT
    kill -HUP "$server"
    tries=0
    until inside /usr/bin/sprintd ctl status | grep 'reloaded 1 time'; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ]
        sleep 0.1
    done
    kill -TERM "$server"
    trap 'kill -KILL "$network"' EXIT
    wait "$unshared"
}

shows_its_certificate()
{
    in_net curl -fsS --noproxy '*' -m 5 --cacert "$place/root.pem" \
        --resolve example.org:443:127.0.0.1 https://example.org/ |
        grep -q 'sprintd serves this page'
}

# By the options of the page, as its user, who has ports 80 and 443; and who is
# started again on the same volume asks for nothing.
a_name_gets_its_certificate()
{
    PEBBLE_LIFE_S=864000
    children=
    make_network
    # shellcheck disable=SC2086
    trap 'kill -KILL $children "$network"' EXIT
    start_authority
    cp "$place/authority.crt" "$root/srv/authority.crt"
    set -- --https example.org --acme-directory https://127.0.0.1:14000/dir \
        --acme-ca /srv/authority.crt --acme-retry 1 /srv/www
    start_as_process_1 "$@"
    # shellcheck disable=SC2086
    trap 'kill -KILL "$server" $children "$network"' EXIT
    tries=0
    until shows_its_certificate; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { cat "$place/out"; exit 1; }
        sleep 0.2
    done
    live=$root/var/lib/sprintd/acme/live/example.org.pem
    [ "$(stat -c '%u %a' "$live")" = '10001 600' ]
    kill -TERM "$server"
    wait "$unshared"
    start_as_process_1 "$@"
    shows_its_certificate
    [ "$(grep -c 'Added order' "$place/pebble.log")" -eq 1 ]
}

# The number of the image's user stands in two places.
its_user_is_the_same_everywhere()
{
    user=$(sed -n 's/^USER_ID=//p' packaging/container.sh)
    grep -qx "USER $user:$user" packaging/Containerfile
    grep -q "runAsUser: $user" docs/container.md
}

name=localhost/sprintd-test-$$

the_image_is_built()
{
    buildah bud --isolation chroot --format docker --tag "$name" \
        -f packaging/Containerfile .
}

the_image_says_how_it_is_run()
{
    buildah inspect --type image --format '{{.Docker.Config}}' "$name" \
        >"$place/config"
    for word in 10001:10001 /srv /var/lib/sprintd 8080/tcp 443/tcp SIGTERM \
        'ctl status' /etc/sprintd/sprintd.conf; do
        grep -qF "$word" "$place/config"
    done
    buildah push "$name" "oci-archive:$place/image.tar"
    [ "$(stat -c %s "$place/image.tar")" -lt "$BYTES_MAX" ]
}

# On another port, so that whoever has that one keeps it.
the_page_s_commands_work()
{
    python3 tests/e2e/pages.py list docs/container.md container |
        sed "s/127.0.0.1:8080:8080/127.0.0.1::8080/; s/\<web\>/web-$$/g
            s|-t sprintd\>|-t $name|; s|ro\" sprintd\$|ro\" $name|" >"$place/do"
    sh -e "$place/do"
}

remove_images()
{
    for tool in podman buildah; do
        ! command -v "$tool" || "$tool" rmi --force "$name"
    done >/dev/null 2>&1
}

ok its_user_is_the_same_everywhere
if [ ! -s /etc/ssl/certs/ca-certificates.crt ]; then
    skip its_files_are_small 'ca-certificates is missing'
    say_how_many
    exit
fi
ok its_files_are_small
if [ "$(id -u)" -ne 0 ] || ! unshare --mount --pid --net --fork true; then
    skip it_serves_as_process_1 'only root can make namespaces here'
    skip it_takes_signals_as_process_1 'only root can make namespaces here'
    skip a_name_gets_its_certificate 'only root can make namespaces here'
else
    ok it_serves_as_process_1
    ok it_takes_signals_as_process_1
    if find_pebble; then
        ok a_name_gets_its_certificate
    else
        skip a_name_gets_its_certificate 'pebble is missing'
    fi
fi
trap 'remove_images; rm -rf --one-file-system "$place"' EXIT
if ! command -v buildah >/dev/null; then
    skip the_image_is_built 'buildah is missing'
elif ! buildah pull docker.io/library/debian:12-slim >/dev/null 2>&1; then
    skip the_image_is_built 'no Debian to build it in can be fetched'
else
    ok the_image_is_built
    ok the_image_says_how_it_is_run
    if command -v podman >/dev/null; then
        ok the_page_s_commands_work
    else
        skip the_page_s_commands_work 'podman is missing'
    fi
fi
say_how_many
