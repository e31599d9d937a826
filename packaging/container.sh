#!/bin/sh
# container.sh - puts together all files of the container image: the program, and
# sprintd-acme, the libraries that they are linked with, the authorities that are
# trusted, a configuration, a first page.
#
# usage: container.sh PROGRAM ROOT
#
# sprintd-acme lies beside PROGRAM. ROOT is made. As root, what the server may
# write belongs to its user there, whose number Containerfile has, too.
set -eu

program=${1?usage: container.sh PROGRAM ROOT}
root=${2?usage: container.sh PROGRAM ROOT}
USER_ID=10001
AUTHORITIES=/etc/ssl/certs/ca-certificates.crt
umask 022

for folder in etc/sprintd proc run/sprintd srv/www usr/bin var/lib/sprintd; do
    mkdir -p "$root/$folder"
done
for name in sprintd sprintd-acme; do
    install -m 755 "$(dirname "$program")/$name" "$root/usr/bin/$name"
    strip "$root/usr/bin/$name"
done

# The dynamic linker stands in a line without "=>".
ldd "$root/usr/bin/sprintd" "$root/usr/bin/sprintd-acme" |
    sed -n 's|^[^/]*\(/[^ ]*\) (0x[0-9a-f]*)$|\1|p' | sort -u |
    while read -r library; do
        install -D -m 755 "$library" "$root$library"
    done

if [ ! -s "$AUTHORITIES" ]; then
    echo "container.sh: no $AUTHORITIES: the package ca-certificates" >&2
    exit 1
fi
install -D -m 644 "$AUTHORITIES" "$root$AUTHORITIES"
install -m 644 packaging/container.conf "$root/etc/sprintd/sprintd.conf"
install -m 644 packaging/welcome.html "$root/srv/www/index.html"
printf '%s\n' 'root:x:0:0::/:/none' \
    "sprintd:x:$USER_ID:$USER_ID::/srv:/none" >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' "sprintd:x:$USER_ID:" >"$root/etc/group"
if [ "$(id -u)" -eq 0 ]; then
    chown -R "$USER_ID:$USER_ID" "$root/run/sprintd" "$root/srv" \
        "$root/var/lib/sprintd"
fi
