#!/bin/sh
# install.sh - puts what was built where it is used from, or takes it away.
#
# usage: install.sh install|uninstall      (make install, make uninstall)
#
# Environment: BUILD, where it was built; PREFIX, SYSCONFDIR, UNITDIR, where it
# will be found; DESTDIR, before all of these, where it is put for now.
#
# What is shipped speaks of /usr and /etc, and is rewritten. Files in SYSCONFDIR
# belong to the administrator: those that are there stay as they are, and only
# those that nobody changed are taken away.
set -eu

BUILD=${BUILD:-build}
PREFIX=${PREFIX:-/usr/local}
SYSCONFDIR=${SYSCONFDIR:-/etc}
UNITDIR=${UNITDIR:-$PREFIX/lib/systemd/system}
DESTDIR=${DESTDIR:-}
umask 022

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# for_each DO: calls DO KIND FROM TO for every file.
for_each()
{
    share=$PREFIX/share
    # Debian's zsh looks for what packages bring in one place, and for what
    # others bring in the other.
    case $PREFIX in
    /usr) zsh_folder=vendor-completions ;;
    *) zsh_folder=site-functions ;;
    esac
    "$1" program "$BUILD/release/sprintd" "$PREFIX/bin/sprintd"
    "$1" program "$BUILD/release/sprintd-acme" "$PREFIX/bin/sprintd-acme"
    "$1" text "$BUILD/man/sprintd.8" "$share/man/man8/sprintd.8"
    "$1" text "$BUILD/man/sprintd.conf.5" "$share/man/man5/sprintd.conf.5"
    "$1" text packaging/sprintd-acme.8 "$share/man/man8/sprintd-acme.8"
    "$1" text "$BUILD/completion/sprintd.bash" \
        "$share/bash-completion/completions/sprintd"
    "$1" text "$BUILD/completion/sprintd.zsh" \
        "$share/zsh/$zsh_folder/_sprintd"
    "$1" text packaging/welcome.html "$share/sprintd/www/index.html"
    for file in docs/*.md; do
        "$1" text "$file" "$share/doc/sprintd/docs/${file##*/}"
    done
    for file in packaging/examples/*.conf; do
        "$1" text "$file" "$share/doc/sprintd/examples/${file##*/}"
    done
    for file in packaging/grafana.json packaging/fail2ban-*.conf; do
        "$1" text "$file" "$share/doc/sprintd/examples/${file##*/}"
    done
    for file in packaging/*.service packaging/*.socket \
        packaging/*.timer; do
        [ ! -e "$file" ] || "$1" text "$file" "$UNITDIR/${file##*/}"
    done
    for kind in sysusers tmpfiles; do
        [ ! -e "packaging/$kind.conf" ] || "$1" text "packaging/$kind.conf" \
            "$PREFIX/lib/$kind.d/sprintd.conf"
    done
    "$1" setting packaging/sprintd.conf "$SYSCONFDIR/sprintd/sprintd.conf"
    "$1" setting packaging/logrotate "$SYSCONFDIR/logrotate.d/sprintd"
}

# As it shall read where it will lie. No path holds a |.
rewritten()
{
    sed -e "s|/usr/s\{0,1\}bin/sprintd|$PREFIX/bin/sprintd|g" \
        -e "s|/usr/share/\(doc/\)\{0,1\}sprintd|$PREFIX/share/\1sprintd|g" \
        -e "s|/etc/sprintd|$SYSCONFDIR/sprintd|g" "$1"
}

put()
{
    to=$DESTDIR$3
    if [ "$1" = setting ] && [ -e "$to" ]; then
        echo "  KEPT  $to"
        return
    fi
    echo "  PUT   $to"
    mkdir -p "${to%/*}"
    if [ "$1" = program ]; then
        install -m 755 "$2" "$to"
    else
        rewritten "$2" >"$scratch/text"
        install -m 644 "$scratch/text" "$to"
    fi
}

take()
{
    to=$DESTDIR$3
    [ -e "$to" ] || return 0
    if [ "$1" = setting ]; then
        rewritten "$2" >"$scratch/text"
        if ! cmp -s "$scratch/text" "$to"; then
            echo "  KEPT  $to"
            return
        fi
    fi
    echo "  GONE  $to"
    rm -f "$to"
}

case ${1-} in
install)
    for_each put
    ;;
uninstall)
    for_each take
    for folder in "$PREFIX/share/sprintd/www" "$PREFIX/share/sprintd" \
        "$PREFIX/share/doc/sprintd/docs" \
        "$PREFIX/share/doc/sprintd/examples" "$PREFIX/share/doc/sprintd" \
        "$SYSCONFDIR/sprintd"; do
        [ ! -d "$DESTDIR$folder" ] ||
            rmdir --ignore-fail-on-non-empty "$DESTDIR$folder"
    done
    ;;
*)
    echo 'usage: install.sh install|uninstall' >&2
    exit 64
    ;;
esac
