#!/bin/sh
# install.sh - what is shipped: the installed program runs, its pages are sound,
# nobody's settings are lost, and the same source packs to the same bytes.
#
# Environment: BUILD, where the release was built. Prints what cmocka prints.
set -u

BUILD=${BUILD:-build}
export BUILD
. tests/e2e/ok.sh

# at FOLDER COMMAND: (un)installs there, to be found in /opt/s later.
at()
{
    DESTDIR=$1 PREFIX=/opt/s SYSCONFDIR=/opt/etc UNITDIR='' \
        sh packaging/install.sh "$2"
}

# What the server answers on a port.
fetch()
{
    bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"
        printf "GET %s HTTP/1.0\r\nHost: x\r\n\r\n" "$2" >&3
        cat <&3' bash "$1" "$2"
}

the_installed_program_serves_the_installed_page()
{
    at "$place/run" install
    : >"$place/url" # it is looked at before the server may have begun
    "$place/run/opt/s/bin/sprintd" --bind 127.0.0.1 --port 0 \
        "$place/run/opt/s/share/sprintd/www" >"$place/url" 2>&1 &
    server=$!
    trap 'kill "$server"' EXIT
    for _ in $(seq 300); do
        port=$(sed -n 's|.* at http://[^/]*:\([0-9]*\)/.*|\1|p' "$place/url")
        [ -z "$port" ] || break
        sleep 0.1
    done
    fetch "$port" / >"$place/answer"
    head -n 1 "$place/answer" | grep '^HTTP/1.1 200 '
    grep -q '/opt/etc/sprintd/sprintd.conf' "$place/answer"
}

the_manual_is_there_and_sound()
{
    at "$place/man" install
    for page in man8/sprintd.8 man8/sprintd-acme.8 man5/sprintd.conf.5; do
        page=$place/man/opt/s/share/man/$page
        grep -q '^\.SH SEE ALSO' "$page"
        if command -v man; then
            man --warnings -l -Tutf8 "$page" 2>&1 >/dev/null | tee "$place/w"
            [ ! -s "$place/w" ]
        fi
        if command -v mandoc; then
            mandoc -Tlint "$page"
        fi
    done
    bash -n "$place/man/opt/s/share/bash-completion/completions/sprintd"
}

the_examples_of_the_manual_are_well_formed()
{
    at "$place/examples" install
    sed -n -e 's/\\-/-/g' -e "s|/srv/[a-z]*|$place|" \
        -e '/^\.nf/,/^\.fi/{/^\./!p}' \
        "$place/examples/opt/s/share/man/man5/sprintd.conf.5" >"$place/conf"
    "$BUILD/release/sprintd" -t -c "$place/conf" | grep ' 2 sites, 3 locations'
}

whatever_is_installed_speaks_of_where_it_lies()
{
    at "$place/where" install
    if grep -rI -e '/usr/s\{0,1\}bin/sprintd' -e '[^t]/etc/sprintd' \
        -e '/usr/share/\(doc/\)\{0,1\}sprintd' "$place/where"; then
        return 1
    fi
}

settings_outlive_installing_and_uninstalling_again()
{
    at "$place/keep" install
    conf=$place/keep/opt/etc/sprintd/sprintd.conf
    cp "$conf" "$place/shipped"
    echo '# mine' >>"$conf"
    at "$place/keep" install
    tail -n 1 "$conf" | grep -q '^# mine$'
    at "$place/keep" uninstall
    [ "$(find "$place/keep" -type f)" = "$conf" ]
    cp "$place/shipped" "$conf"
    at "$place/keep" uninstall
    [ -z "$(find "$place/keep" -type f)" ]
    [ ! -e "$place/keep/opt/etc/sprintd" ]
}

# With another umask and another time zone; and from the archive itself, where
# there is no git and files were touched: all the same.
the_same_source_packs_to_the_same_bytes()
{
    sh packaging/dist.sh "$place/one"
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 \
        sh packaging/dist.sh "$place/two")
    tar -x -C "$place" -f "$place"/one/sprintd-*.tar.xz
    find "$place"/sprintd-* -type f ! -name Makefile -exec touch {} +
    (cd "$place"/sprintd-* && sh packaging/dist.sh "$place/three")
    for archive in "$place"/one/*; do
        cmp "$archive" "$place/two/${archive##*/}"
        cmp "$archive" "$place/three/${archive##*/}"
    done
    [ "$(find "$place/three" -type f | wc -l)" -eq 2 ]
}

the_archive_has_all_that_is_needed_and_nothing_built()
{
    sh packaging/dist.sh "$place/all"
    tar -t -f "$place"/all/sprintd-*.tar.gz | sed 's|^[^/]*/||' >"$place/names"
    for name in Makefile LICENSE README.md src/main.c .ci/run \
        packaging/debian/control packaging/debian/rules tests/run.sh; do
        grep -qxF "$name" "$place/names"
    done
    if grep -E '^build/|\.[oa]$|large\.bin|^\.git/' "$place/names"; then
        return 1
    fi
}

the_package_is_of_this_version()
{
    version=$("$BUILD/release/sprintd" --version |
        sed -n 's/^sprintd //p')
    [ -n "$version" ]
    head -n 1 packaging/debian/changelog | grep -qF "sprintd ($version) "
}

# Also where everything was built, which brings make thousands of files more.
make_alone_lists_its_targets()
{
    env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory BUILD="$BUILD" \
        >"$place/targets"
    grep -q '^  test ' "$place/targets"
    grep -q '^  run ' "$place/targets"
}

ok the_installed_program_serves_the_installed_page
ok the_manual_is_there_and_sound
ok the_examples_of_the_manual_are_well_formed
ok whatever_is_installed_speaks_of_where_it_lies
ok settings_outlive_installing_and_uninstalling_again
ok the_same_source_packs_to_the_same_bytes
ok the_archive_has_all_that_is_needed_and_nothing_built
ok the_package_is_of_this_version
ok make_alone_lists_its_targets
say_how_many
