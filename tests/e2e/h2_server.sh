# h2_server.sh - a server that speaks HTTP/2 by TLS and in clear text, for test
# programs of the shell.
#
# To be sourced, behind ok.sh; $place is a folder of the program's own.
# shellcheck shell=sh

# start [ARGUMENT...]: serves $place/root; $port and $https are its.
start()
{
    : >"$place/banner" # it is looked at before the server may have begun
    HOME=$place "$SPRINTD" --bind 127.0.0.1 --port 0 --https 0 --http2 all \
        --status /_s --access-log "$place/log" "$@" "$place/root" \
        >"$place/banner" 2>&1 &
    server=$!
    servers="${servers-} $server"
    trap 'kill $servers; rm -rf "$place"' EXIT
    for _ in $(seq 300); do
        port=$(sed -n 's|.* at http://[^/]*:\([0-9]*\)/.*|\1|p' "$place/banner")
        https=$(sed -n 's|.* at https://[^/]*:\([0-9]*\)/.*|\1|p' \
            "$place/banner")
        [ -z "$https" ] || return 0
        sleep 0.1
    done
    cat "$place/banner"
    return 1
}

# stop: it ends, and its log is whole.
stop()
{
    kill "$server"
    wait "$server"
    echo "$?" >"$place/status"
    servers=$(echo "$servers" | sed "s/ $server\\b//")
    trap '[ -z "$servers" ] || kill $servers; rm -rf "$place"' EXIT
}

the_server_has_ended_well()
{
    cat "$place/banner"
    [ "$(cat "$place/status")" -eq 0 ]
}

# nobody_was_stopped: no limit was reached by anybody.
nobody_was_stopped()
{
    curl -s "http://127.0.0.1:$port/_s/metrics" >"$place/metrics"
    grep -q '^sprintd_http2_events_total' "$place/metrics"
    not grep '^sprintd_http2_abuses_total.* [1-9]' "$place/metrics"
}
