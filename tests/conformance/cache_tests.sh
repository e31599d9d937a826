#!/bin/sh
# cache_tests.sh - runs the suite of http-tests/cache-tests against the program,
# and compares what fails with what is known to (cache_tests.mjs).
#
# usage: cache_tests.sh PROGRAM
#
# The suite is the state of its repository that COMMIT names: from the folder that
# CACHE_TESTS names, if that is set, else from GitHub by npm, once, into FOLDER
# (default build/cache-tests). Where there is no way to that it is the older one that
# npm itself has. The status is 1 on a finding, 77 without Node or the suite.
set -u

PROGRAM=$(realpath "$1")
HERE=$(realpath "$(dirname "$0")")
FOLDER=${FOLDER:-build/cache-tests}
SUITE=http-cache-tests
COMMIT=b55b8bda3dbb8c927c04e85bd8d496a8caa3e4ba
VERSION=0.4.5
UNDICI=7

skip()
{
    echo "cache-tests: skipped: $1"
    exit 77
}

get()
{
    timeout 120 npm install --no-save --no-audit --no-fund --ignore-scripts \
        --omit=dev "$@" >npm.log 2>&1
}

command -v node >/dev/null && command -v npm >/dev/null || skip "no Node here"
CACHE_TESTS=${CACHE_TESTS:+$(realpath "$CACHE_TESTS")}
mkdir -p "$FOLDER"
cd "$FOLDER" || exit 1
if [ -n "${CACHE_TESTS:-}" ]; then
    if [ ! -d checkout ]; then
        get "$SUITE@$VERSION" "undici@$UNDICI" || skip "npm has no $SUITE"
        cp -r "$CACHE_TESTS" checkout || exit 1
    fi
    cd checkout || exit 1
else
    [ -d "node_modules/$SUITE" ] ||
        get "github:http-tests/cache-tests#$COMMIT" ||
        get "$SUITE@$VERSION" || skip "npm has no $SUITE"
    cd "node_modules/$SUITE" || exit 1
fi
engine=.
[ -d test-engine ] && engine=test-engine

port=$((20000 + $$ % 20000))
export npm_config_protocol=http npm_config_port=$port npm_config_pidfile=pid
node "$engine/server/server.mjs" >server.log 2>&1 &
origin=$!
"$PROGRAM" --bind 127.0.0.1 --port $((port + 1)) --workers 2 \
    --proxy "/=http://127.0.0.1:$port" --proxy-cache memory >front.log 2>&1 &
front=$!
trap 'kill $origin $front 2>/dev/null' EXIT
sleep 2
npm_config_base=http://127.0.0.1:$((port + 1)) npm_config_id='' \
    npm_package_config_id='' timeout 300 node --no-warnings "$engine/cli.mjs" \
    >results.json 2>cli.log
node "$HERE/cache_tests.mjs" "$PWD" results.json
