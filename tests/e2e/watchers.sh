#!/bin/sh
# watchers.sh - what is shipped for those that watch the server: Grafana's
# dashboard asks for metrics that it exports, fail2ban's filter finds in its
# log whom it should.
#
# Environment: SPRINTD, the server. Prints what cmocka prints.
set -u

. tests/e2e/ok.sh

# start: the server, with all that it can tell of; $port is its.
start()
{
    mkdir -p "$place/root/secret"
    echo page >"$place/root/secret/index.html"
    # Made by `openssl passwd -6`.
    printf '%s%s\n' \
        'joe:$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8' \
        'PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/O6IND4WQhG.' \
        >"$place/members"
    cat >"$place/conf" <<END
listen = {"127.0.0.1:0"}
root = $place/root
status = /_s
access-log = $place/log
kv = {"/kv=$place/store"}
proxy = {"/p=http://127.0.0.1:9"}
site "a" {
    hosts = {"a"}
    root = $place/root
    location "/secret/" {
        auth-file = $place/members
    }
}
END
    : >"$place/banner" # it is looked at before the server may have begun
    "$SPRINTD" -c "$place/conf" >"$place/banner" 2>&1 &
    server=$!
    trap 'kill "$server"' EXIT
    for _ in $(seq 300); do
        port=$(sed -n 's|.* at http://[^/]*:\([0-9]*\)/.*|\1|p' "$place/banner")
        [ -z "$port" ] || return 0
        sleep 0.1
    done
    cat "$place/banner"
    return 1
}

# stop: it ends, and its log is whole.
stop()
{
    trap - EXIT
    kill "$server"
    wait "$server" || true
}

# ask PATH [FIELD...]: a GET, of site a; prints the body.
ask()
{
    python3 - "$port" "$@" <<'END'
import http.client, sys
client = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
host = "localhost" if sys.argv[2].startswith("/_s") else "a"
client.request("GET", sys.argv[2], headers={
    "Host": host, **dict(field.split(": ", 1) for field in sys.argv[3:])})
sys.stdout.buffer.write(client.getresponse().read())
END
}

grafana_asks_for_what_is_exported()
{
    start
    ask /secret/ >/dev/null
    ask /_s/metrics >"$place/metrics"
    stop
    python3 tests/e2e/check_grafana.py packaging/grafana.json "$place/metrics"
}

a_metric_that_is_not_exported_would_be_seen()
{
    sed '/^sprintd_kv_puts_total/d; s/reason=/why=/' "$place/metrics" \
        >"$place/fewer"
    not python3 tests/e2e/check_grafana.py packaging/grafana.json \
        "$place/fewer" 2>"$place/faults"
    cat "$place/faults"
    grep -q 'sprintd_kv_puts_total is not exported' "$place/faults"
    grep -q 'sprintd_connections_refused_total has no reason' "$place/faults"
}

# matched MODE: how many lines of the log it finds.
matched()
{
    fail2ban-regex "$place/log" "packaging/fail2ban-filter.conf[mode=$1]" \
        >"$place/regex" || true
    sed -n 's/^Lines: .* \([0-9]*\) matched.*/\1/p' "$place/regex"
}

# Two that are refused, a page that only names such a line, a broken request.
fail2ban_finds_whom_it_should()
{
    rm -f "$place/log"
    start
    ask /secret/ >/dev/null
    ask /secret/ 'Authorization: Basic am9lOmJhZA==' >/dev/null
    ask '/" 401 7 "' >/dev/null || true
    ask / 'User-Agent: x" 401 7 "' >/dev/null
    ask / 'Content-Length: x' >/dev/null
    stop
    cat "$place/log"
    [ "$(grep -c '" 401 ' "$place/log")" -eq 2 ]
    [ "$(matched auth)" -eq 2 ]
    [ "$(matched abuse)" -eq 1 ]
    [ "$(matched all)" -eq 3 ]
}

fail2ban_reads_the_jail()
{
    cp -r /etc/fail2ban "$place/fail2ban"
    cp packaging/fail2ban-filter.conf "$place/fail2ban/filter.d/sprintd.conf"
    sed "s|/var/log/sprintd|$place|; s|/access.log|/log|" \
        packaging/fail2ban-jail.conf >"$place/fail2ban/jail.d/sprintd.conf"
    fail2ban-client -c "$place/fail2ban" -d >"$place/dump" 2>&1 ||
        { tail -n 5 "$place/dump"; false; }
    grep -q "'sprintd-auth', 'maxretry', 10" "$place/dump"
    grep -q "'sprintd-abuse', 'maxretry', 50" "$place/dump"
}

ok grafana_asks_for_what_is_exported
ok a_metric_that_is_not_exported_would_be_seen
if command -v fail2ban-regex >/dev/null; then
    ok fail2ban_finds_whom_it_should
    ok fail2ban_reads_the_jail
else
    skip fail2ban "it is not installed (apt-get install fail2ban)"
fi
say_how_many
