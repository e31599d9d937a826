#!/bin/sh
# deb.sh - makes the Debian package.
#
# usage: deb.sh FOLDER      (make deb)
#
# An archive of the source (dist.sh) is unpacked in FOLDER/deb, packaging/debian
# becomes debian there, and dpkg-buildpackage builds in it; sprintd_*.deb go to
# FOLDER. Root is not needed. The same source and tools make the same bytes,
# wherever they lie and whoever runs them.
set -eu

folder=${1?usage: deb.sh FOLDER}
# What the outer make was told is not for the package.
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS BUILD CFLAGS CPPFLAGS LDFLAGS CC
umask 022

version=$(sed -n 's/.*SPRINTD_VERSION "\(.*\)"/\1/p' include/base/version.h)
packed=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
if [ "$packed" != "$version" ]; then
    echo "packaging/debian/changelog: is of $packed, the source of $version" >&2
    exit 1
fi

rm -rf "$folder/deb"
mkdir -p "$folder/deb"
sh packaging/dist.sh "$folder/deb" >/dev/null
tar -x -C "$folder/deb" -f "$folder/deb/sprintd-$version.tar.gz"
cp -R "$folder/deb/sprintd-$version/packaging/debian" \
    "$folder/deb/sprintd-$version/debian"
if ! (cd "$folder/deb/sprintd-$version" && dpkg-buildpackage -us -uc -b) \
    >"$folder/deb/log" 2>&1; then
    tail -n 40 "$folder/deb/log" >&2
    exit 1
fi
rm -f "$folder"/sprintd_*.deb
cp "$folder/deb/sprintd_$version"_*.deb "$folder"
ls "$folder/sprintd_$version"_*.deb
