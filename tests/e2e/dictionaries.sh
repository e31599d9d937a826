#!/bin/sh
# dictionaries.sh - what others make of deltas: curl and the zstd program, and a
# browser that loads one version of a script, and then the next as the difference.
#
# Environment: SPRINTD, the server. Prints what cmocka prints.
set -u

PATH=$PATH:/usr/sbin:/sbin
SPRINTD=${SPRINTD:-build/release/sprintd}
. tests/e2e/ok.sh
. tests/e2e/h2_server.sh

# Two versions of a script of 300 KB, and a page that loads one behind the other.
make_site()
{
    mkdir -p "$place/root/assets"
    echo canary >"$place/root/canary"
    for version in 1 2; do
        {
            seq -f "// %.0f is a line of a script that says little" 6000
            echo "window.version = $version"
        } >"$place/root/assets/app.$version.js"
        touch -d "2020-01-0$version" "$place/root/assets/app.$version.js"
    done
    cat >"$place/root/page.html" <<'END'
<!doctype html><title>waiting</title><script src=/assets/app.1.js></script>
<script>
// What it has loaded is a dictionary a moment later.
setTimeout(() => {
    const script = document.createElement('script')
    script.src = '/assets/app.2.js'
    script.onload = () => {
        const [entry] = performance.getEntriesByName(script.src)
        document.title = `version ${version} small ${
            entry.encodedBodySize < entry.decodedBodySize / 50}`
    }
    document.body.append(script)
}, 2000)
</script>
END
    sleep 0.2
}

# ask VERSION [CURL'S ARGUMENT...]: into $place/got, what it is coded by on stdout.
ask()
{
    curl -s -o "$place/got" -D "$place/head" \
        -H 'Accept-Encoding: gzip, br, zstd, dcz' "$@"
    sed -n 's/^content-encoding: \([a-z]*\).*/\1/ip' "$place/head"
}

offer()
{
    printf 'Available-Dictionary: :%s:' \
        "$(openssl dgst -sha256 -binary "$place/root/assets/app.1.js" | base64)"
}

# eventually CODING URL: it comes so, once that has been made.
eventually()
{
    for _ in $(seq 200); do
        [ "$(ask -k -H "$(offer)" "$2")" != "$1" ] || return 0
        sleep 0.1
    done
    cat "$place/head"
    return 1
}

curl_and_zstd_unpack_a_delta_by_http_1_and_2()
{
    curl -s -o /dev/null "http://localhost:$port/assets/app.1.js"
    for how in http://localhost:$port https://localhost:$https; do
        eventually dcz "$how/assets/app.2.js"
        grep -i '^vary: accept-encoding, available-dictionary' "$place/head"
        [ "$(wc -c <"$place/got")" -lt 1000 ]
        zstd -dqf --patch-from="$place/root/assets/app.1.js" "$place/got" \
            -o "$place/plain"
        cmp "$place/plain" "$place/root/assets/app.2.js"
        zstd -dqf -D "$place/root/assets/app.1.js" "$place/got" \
            -o "$place/plain"
        cmp "$place/plain" "$place/root/assets/app.2.js"
    done
}

curl_takes_what_it_asks_for_without()
{
    for _ in 1 2 3; do
        curl -s --compressed "http://localhost:$port/assets/app.2.js" |
            cmp - "$place/root/assets/app.2.js"
        sleep 0.3
    done
}

# It keeps no dictionaries of servers whose certificate it does not know, other
# than of this machine by http.
chromium_loads_a_version_and_the_next_as_a_delta()
{
    eventually dcz "http://localhost:$port/assets/app.2.js"
    eventually br "http://localhost:$port/assets/app.1.js"
    timeout 100 chromium --headless=new --no-sandbox --disable-gpu \
        --user-data-dir="$place/chromium" --virtual-time-budget=20000 \
        --log-net-log="$place/netlog" --net-log-capture-mode=Everything \
        --dump-dom "http://localhost:$port/page.html" \
        >"$place/dom" 2>"$place/errors" || cat "$place/errors"
    grep -i '<title>version 2 small true</title>' "$place/dom" ||
        {
            cat "$place/dom"
            false
        }
    grep -qi 'content-encoding: br' "$place/netlog"
    grep -qi 'content-encoding: dcz' "$place/netlog"
}

make_site
if ! start --dictionary '/assets/app.*.js' --state-directory "$place/state" \
    --workers 1; then
    echo '[  FAILED  ] 1 test(s).'
    exit 1
fi
ok curl_and_zstd_unpack_a_delta_by_http_1_and_2
ok curl_takes_what_it_asks_for_without
if command -v chromium >/dev/null; then
    ok chromium_loads_a_version_and_the_next_as_a_delta
else
    skip chromium_loads_a_version_and_the_next_as_a_delta \
        "chromium is not installed"
fi
stop
ok the_server_has_ended_well
say_how_many
