#!/bin/sh
# container.sh - the container image: its files are enough and few, the server
# is a good process 1, and where buildah or podman is there it is built and run.
#
# Environment: BUILD, where the release was built. Prints what cmocka prints.
#
# An image is built from a Debian that has to be fetched:
# seconds: 900
set -u

BUILD=${BUILD:-build}
PATH=$PATH:/usr/sbin:/sbin
export BUILD PATH
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
trap 'exit 130' INT TERM
. tests/e2e/ok.sh

root=$place/root
BYTES_MAX=30000000

its_files_are_small()
{
    sh packaging/container.sh "$BUILD/release/sprintd" "$root"
    tar -c -C "$root" . | gzip >"$place/image.tar.gz"
    [ "$(stat -c %s "$place/image.tar.gz")" -lt "$BYTES_MAX" ]
}

# In a tree of processes, mounts and a network of its own, where the server is
# process 1, as the image's user; as a container's runtime does, with /proc and
# /dev. $server is its number out here.
start_as_process_1()
{
    mkdir -p "$root/dev"
    # shellcheck disable=SC2016
    unshare --mount --pid --net --fork --kill-child sh -c '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        ip link set lo up
        exec chroot --userspec=10001:10001 "$1" \
            /usr/bin/sprintd --config /etc/sprintd/sprintd.conf
        ' sh "$root" >"$place/out" 2>&1 &
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
    start_as_process_1
    trap 'kill -KILL "$server"' EXIT
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
    start_as_process_1
    trap 'kill -KILL "$server"' EXIT
    kill -HUP "$server"
    tries=0
    until inside /usr/bin/sprintd ctl status | grep 'reloaded 1 time'; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ]
        sleep 0.1
    done
    kill -TERM "$server"
    trap - EXIT
    wait "$unshared"
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
    for word in 10001:10001 /srv 8080/tcp SIGTERM 'ctl status' \
        /etc/sprintd/sprintd.conf; do
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
ok its_files_are_small
if [ "$(id -u)" -ne 0 ] || ! unshare --mount --pid --net --fork true; then
    skip it_serves_as_process_1 'only root can make namespaces here'
    skip it_takes_signals_as_process_1 'only root can make namespaces here'
else
    ok it_serves_as_process_1
    ok it_takes_signals_as_process_1
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
