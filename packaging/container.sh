#!/bin/sh
# container.sh - puts together all files of the container image: the program,
# the libraries that it is linked with, a configuration, a first page.
#
# usage: container.sh PROGRAM ROOT
#
# ROOT is made. As root, what the server may write belongs to its user there,
# whose number Containerfile has, too.
set -eu

program=${1?usage: container.sh PROGRAM ROOT}
root=${2?usage: container.sh PROGRAM ROOT}
USER_ID=10001
umask 022

for folder in etc/sprintd proc run/sprintd srv/www usr/bin; do
    mkdir -p "$root/$folder"
done
install -m 755 "$program" "$root/usr/bin/sprintd"
strip "$root/usr/bin/sprintd"

# The dynamic linker stands in a line without "=>".
ldd "$program" |
    sed -n 's|^[^/]*\(/[^ ]*\) (0x[0-9a-f]*)$|\1|p' |
    while read -r library; do
        install -D -m 755 "$library" "$root$library"
    done

install -m 644 packaging/container.conf "$root/etc/sprintd/sprintd.conf"
install -m 644 packaging/welcome.html "$root/srv/www/index.html"
printf '%s\n' 'root:x:0:0::/:/none' \
    "sprintd:x:$USER_ID:$USER_ID::/srv:/none" >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' "sprintd:x:$USER_ID:" >"$root/etc/group"
if [ "$(id -u)" -eq 0 ]; then
    chown -R "$USER_ID:$USER_ID" "$root/run/sprintd" "$root/srv"
fi
