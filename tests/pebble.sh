# pebble.sh - an authority of certificates for tests of the shell: Pebble, strict,
# that refuses half of all nonces, and looks at ports 80 and 443 of 127.0.0.1 for
# whatever name.
#
# To be sourced. The test has a folder $place, a function in_net COMMAND...,
# which runs it in the network of who wants certificates, $PEBBLE_LIFE_S, how
# long they are good, and $children, whom it ends. The directory is
# https://127.0.0.1:14000/dir, whose own certificate $place/authority.crt has
# signed; $place/root.pem is the root that signs.
# shellcheck shell=sh

find_pebble()
{
    for pebble in "${PEBBLE-/usr/bin/pebble}" "$HOME/go/bin/pebble"; do
        if [ -x "$pebble" ] && [ -x "$pebble-challtestsrv" ]; then
            return 0
        fi
    done
    return 1
}

# Debian's pebble-challtestsrv knows fewer options than later ones.
start_names()
{
    if "$pebble-challtestsrv" -help 2>&1 | grep -q -- -dnsserver; then
        dns='-doh= -dnsserver'
    else
        dns=-dns01
    fi
    # shellcheck disable=SC2086
    in_net "$pebble-challtestsrv" -defaultIPv6 '' -defaultIPv4 127.0.0.1 \
        -http01 '' -https01 '' -tlsalpn01 '' \
        -management 127.0.0.1:8055 $dns 127.0.0.1:8053 \
        >"$place/names.log" 2>&1 &
    children="$children $!"
}

get_root()
{
    in_net curl -sS --fail --noproxy '*' --cacert "$place/authority.crt" \
        -o "$place/root.pem" https://127.0.0.1:15000/roots/0
}

start_authority()
{
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -keyout "$place/authority.key" -out "$place/authority.crt" -days 2 \
        -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
    cat >"$place/pebble.json" <<END
{"pebble": {"listenAddress": "127.0.0.1:14000",
    "managementListenAddress": "127.0.0.1:15000",
    "certificate": "$place/authority.crt",
    "privateKey": "$place/authority.key",
    "httpPort": 80, "tlsPort": 443, "ocspResponderURL": "",
    "retryAfter": {"authz": 1, "order": 1},
    "certificateValidityPeriod": $PEBBLE_LIFE_S,
    "profiles": {"default":
        {"description": "any", "validityPeriod": $PEBBLE_LIFE_S}}}}
END
    start_names
    # shellcheck disable=SC2086
    in_net env PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=50 "$pebble" \
        -strict -dnsserver 127.0.0.1:8053 -config "$place/pebble.json" \
        >"$place/pebble.log" 2>&1 &
    children="$children $!"
    tries=0
    until get_root 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || {
            tail -n 5 "$place/names.log" "$place/pebble.log" >&2
            return 1
        }
        sleep 0.2
    done
}
