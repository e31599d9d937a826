#!/bin/sh
# dist.sh - packs the source, byte for byte the same wherever and whenever the
# same source is packed.
#
# usage: dist.sh FOLDER      (make dist)
#
# Makes sprintd-VERSION.tar.gz and .tar.xz in FOLDER: of what git knows or would
# take, or without git, as in an unpacked archive, of all but what is built.
# Every file is as old as SOURCE_DATE_EPOCH, or the last commit, or Makefile,
# which in an unpacked archive is the same again.
set -eu

folder=${1?usage: dist.sh FOLDER}
version=$(sed -n 's/.*SPRINTD_VERSION "\(.*\)"/\1/p' include/base/version.h)
name=sprintd-$version
LC_ALL=C
TZ=UTC
export LC_ALL TZ
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/dist.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Not of a repository that the archive was only unpacked into.
is_repository()
{
    [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1
}

# Ended by NUL. Of what git knows some may be gone from here. Without git, this
# has to agree with .gitignore.
list()
{
    if is_repository; then
        # shellcheck disable=SC2016
        git ls-files -z --cached --others --exclude-standard |
            xargs -0 sh -c 'for file; do
                [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh
    else
        find . \( -path ./.git -o -path ./build -o -path ./debian \
            -o -name __pycache__ -o -path './www/downloads/large.bin*' \
            -o -name '*.gcov' -o -name compile_commands.json \) -prune -o \
            \( -type f -o -type l \) -print0 | sed -z 's|^\./||'
    fi | sort -z -u
}

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    epoch=$SOURCE_DATE_EPOCH
elif is_repository; then
    epoch=$(git log -1 --format=%ct)
else
    epoch=$(stat -c %Y Makefile)
fi

list >"$scratch/list"
tar --create --file "$scratch/tar" --format=gnu --null --no-recursion \
    --files-from="$scratch/list" --mtime="@$epoch" \
    --owner=0 --group=0 --numeric-owner --mode='u+rw,go+r-w,a-s,a-t' \
    --transform="flags=rSH;s|^|$name/|"
gzip -9 -n <"$scratch/tar" >"$scratch/gz"
xz -9 --threads=1 <"$scratch/tar" >"$scratch/xz"
for kind in gz xz; do
    mv "$scratch/$kind" "$folder/$name.tar.$kind"
    echo "$folder/$name.tar.$kind"
done
