#!/bin/sh
# h2spec.sh - the conformance tests of h2spec, strict, in clear text and by TLS.
#
# What fails must be on the list of what may: cases that RFC 9113 has made
# obsolete, and one that asks something of a port that speaks HTTP/1.1, too. The
# program is taken from PATH or $BUILD/tools, or fetched by Go within a minute;
# where it cannot be had the test is skipped.
#
# Environment: SPRINTD, the server; BUILD. Prints what cmocka prints.
#
# seconds: 300
set -u

BUILD=${BUILD:-build}
SPRINTD=${SPRINTD:-$BUILD/release/sprintd}
PATH=$PATH:$BUILD/tools:/usr/local/go/bin
. tests/e2e/ok.sh
. tests/e2e/h2_server.sh

# What may fail: the case, and the clause by which it may. The server fails none
# of those of RFC 7540 5.3.1 that 9113 has made obsolete: a stream that depends
# on itself (5.3.2: such fields are not looked at any more) is still an error.
excused()
{
    # RFC 9113 3.4 is of connections that speak nothing else; what does not begin
    # as HTTP/2 does is a bad request of HTTP/1.1 here (RFC 9112 3), and is told
    # so.
    [ "$1" != in-clear-text ] ||
        echo 'http2/3.5: Sends invalid connection preface'
}

# fetch VERSION: into $BUILD/tools, or not at all.
fetch()
{
    command -v go >/dev/null &&
        GOPATH=$place/go GOCACHE=$place/cache GOFLAGS=-modcacherw \
            GOBIN=$(realpath "$BUILD")/tools timeout 60 \
            go install "github.com/summerwind/h2spec/cmd/h2spec@$1" \
            >/dev/null 2>&1
}

# failures: of the last report, one a line: "package: case".
failures()
{
    python3 - "$place/report.xml" <<'END'
import sys, xml.etree.ElementTree as tree
for suite in tree.parse(sys.argv[1]).getroot().iter("testsuite"):
    for case in suite.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            print(f'{case.get("package")}: {case.get("classname")}')
END
}

# conforms HOW ARGUMENT...: no case fails that should not.
conforms()
{
    excused "$1" >"$place/excused"
    shift
    h2spec --strict --timeout 5 --host 127.0.0.1 --path / \
        --junit-report "$place/report.xml" "$@" >"$place/output" 2>&1 || true
    tail -1 "$place/output"
    grep -q 'tests, .* passed' "$place/output"
    failures | grep -vxFf "$place/excused" >"$place/failed" || true
    if [ -s "$place/failed" ]; then
        cat "$place/output" "$place/failed"
        false
    fi
}

clear_text_conforms()
{
    conforms in-clear-text --port "$port"
}

tls_conforms()
{
    conforms by-tls --port "$https" --tls --insecure
}

# Not every proxy of modules has the newest; the cases are the same.
if ! command -v h2spec >/dev/null && ! fetch v2.6.0 && ! fetch v2.2.1; then
    skip h2spec "it cannot be had: go install github.com/summerwind/h2spec"
    say_how_many
    exit
fi
mkdir -p "$place/root"
head -c 100000 /dev/zero >"$place/root/index.html"
# Files would be answered before a request's body is there; behind a proxy it
# comes first, and is looked at.
start
behind=$server
if ! start --proxy "/=http://127.0.0.1:$port"; then
    echo '[  FAILED  ] 1 test(s).'
    exit 1
fi
ok clear_text_conforms
ok tls_conforms
stop
ok the_server_has_ended_well
server=$behind
stop
say_how_many
