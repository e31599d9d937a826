#!/bin/sh
# h2_clients.sh - the clients of others speak HTTP/2 with the server: curl,
# nghttp, h2load at full speed, a browser. None of them trips a limit.
#
# Environment: SPRINTD, the server. Prints what cmocka prints.
set -u

PATH=$PATH:/usr/sbin:/sbin
SPRINTD=${SPRINTD:-build/release/sprintd}
. tests/e2e/ok.sh
. tests/e2e/h2_server.sh

# A page of sixty files, which says when the last of them has come.
make_page()
{
    mkdir -p "$place/root"
    {
        echo '<!doctype html><title>page</title>'
        for i in $(seq 20); do
            echo "p { margin: ${i}px }" >"$place/root/$i.css"
            echo "window.scripts = (window.scripts || 0) + 1" \
                >"$place/root/$i.js"
            printf '<svg xmlns="http://www.w3.org/2000/svg"><!--%*s--></svg>' \
                $((i * 2000)) x >"$place/root/$i.svg"
            echo "<link rel=stylesheet href=$i.css><script src=$i.js></script>"
            echo "<img src=$i.svg>"
        done
        echo '<script>onload = () => {'
        echo 'const images = [...document.images].filter(i => i.complete);'
        echo 'document.title = `scripts ${scripts} images ${images.length}`'
        echo '}</script>'
    } >"$place/root/page.html"
    echo canary >"$place/root/canary"
    head -c 1048576 /dev/urandom >"$place/root/large"
    head -c 1024 /dev/urandom >"$place/root/small"
}

# --- curl ----------------------------------------------------------------------

curl_speaks_it_by_tls_and_in_clear_text()
{
    for how in "--http2 -k https://127.0.0.1:$https" \
        "--http2-prior-knowledge http://127.0.0.1:$port"; do
        for file in canary large; do
            # shellcheck disable=SC2086
            curl -s -o "$place/got" -w '%{http_version} %{http_code}\n' \
                $how/$file >"$place/output"
            grep -q '^2 200$' "$place/output"
            cmp "$place/root/$file" "$place/got"
        done
    done
    curl -s -o "$place/got" -w '%{http_version}\n' \
        "http://127.0.0.1:$port/canary" | grep -q '^1.1$'
}

curl_uploads_and_fetches_many_at_once()
{
    # shellcheck disable=SC2046
    curl -s -k --http2 -T "$place/root/large" "https://127.0.0.1:$https/kv/up"
    curl -s -k --http2 "https://127.0.0.1:$https/kv/up" |
        cmp - "$place/root/large"
    curl -s -k --http2 --parallel --parallel-max 60 \
        -w '%{http_code}\n' -o "$place/file#1" \
        "https://127.0.0.1:$https/[1-20].svg" >"$place/codes"
    [ "$(grep -c '^200$' "$place/codes")" -eq 20 ]
    for i in $(seq 20); do
        cmp "$place/root/$i.svg" "$place/file$i"
    done
}

# --- nghttp, h2load --------------------------------------------------------------

# With the tree of dependencies that it sends first, and all that a page names.
nghttp_fetches_a_page()
{
    nghttp -n -a -s "http://127.0.0.1:$port/page.html" >"$place/output"
    [ "$(grep -c ' 200 ' "$place/output")" -ge 41 ]
    nghttp -n --no-dep -p 1 "https://127.0.0.1:$https/canary"
}

# h2load_gets NUMBER ARGUMENT...: so many answers, and nothing else.
h2load_gets()
{
    number=$1
    shift
    h2load -n "$number" "$@" >"$place/output" 2>&1
    grep "$number succeeded, 0 failed, 0 errored, 0 timeout" "$place/output" ||
        {
            cat "$place/output"
            false
        }
}

h2load_at_full_speed_trips_nothing()
{
    for url in "http://127.0.0.1:$port" "https://127.0.0.1:$https"; do
        h2load_gets 20000 -c 8 -m 32 "$url/small"
        h2load_gets 5000 -c 50 -m 1 "$url/small"
        h2load_gets 2000 -c 1 -m 100 "$url/small"
        h2load_gets 200 -c 4 -m 4 "$url/large"
        # Windows of 1 KiB, of 16 KiB, and of 1 GiB.
        h2load_gets 50 -c 2 -m 4 -w 10 -W 14 "$url/large"
        h2load_gets 100 -c 2 -m 4 -w 14 -W 14 "$url/large"
        h2load_gets 100 -c 2 -m 4 -w 30 -W 30 "$url/large"
    done
    nobody_was_stopped
}

# Files take no bodies: each is answered while the rest of its body is still on
# the way, and that is no fault of the client's.
uploads_at_full_speed_trip_nothing()
{
    for url in "http://127.0.0.1:$port" "https://127.0.0.1:$https"; do
        h2load -n 1000 -c 2 -m 100 -d "$place/root/small" "$url/canary" \
            >"$place/output" 2>&1
        grep -q ' 0 errored, 0 timeout' "$place/output"
        h2load -n 200 -c 2 -m 50 -d "$place/root/large" "$url/canary" \
            >"$place/output" 2>&1
        grep -q ' 0 errored, 0 timeout' "$place/output"
        h2load_gets 40 -c 2 -m 10 -H ':method: PUT' \
            -d "$place/root/large" "$url/kv/up"
    done
    nobody_was_stopped
}

# --- A browser ------------------------------------------------------------------

chromium_loads_a_page_of_sixty_files()
{
    timeout 100 chromium --headless=new --no-sandbox --disable-gpu \
        --ignore-certificate-errors --user-data-dir="$place/chromium" \
        --dump-dom "https://localhost:$https/page.html" \
        >"$place/dom" 2>"$place/errors" || cat "$place/errors"
    grep -q '<title>scripts 20 images 20</title>' "$place/dom" ||
        {
            cat "$place/dom"
            false
        }
    nobody_was_stopped
}

# What the access log says, once it is whole.
the_browser_has_spoken_http_2()
{
    grep '"GET /[0-9]*\.[a-z]* HTTP/2.0" 200 .*Chrome' "$place/log" \
        >"$place/lines" || true
    [ "$(wc -l <"$place/lines")" -eq 60 ]
    not grep 'HTTP/1.1" .*Chrome' "$place/log"
}

make_page
mkdir -p "$place/store"
if ! start --kv "/kv=$place/store"; then
    echo '[  FAILED  ] 1 test(s).'
    exit 1
fi
ok curl_speaks_it_by_tls_and_in_clear_text
ok curl_uploads_and_fetches_many_at_once
if command -v h2load >/dev/null && command -v nghttp >/dev/null; then
    ok nghttp_fetches_a_page
    ok h2load_at_full_speed_trips_nothing
    ok uploads_at_full_speed_trip_nothing
else
    skip h2load_at_full_speed_trips_nothing "nghttp2-client is not installed"
fi
if command -v chromium >/dev/null; then
    ok chromium_loads_a_page_of_sixty_files
    stop
    ok the_browser_has_spoken_http_2
else
    skip chromium_loads_a_page_of_sixty_files "chromium is not installed"
    stop
fi
ok the_server_has_ended_well
say_how_many
