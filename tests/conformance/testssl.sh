#!/bin/sh
# testssl.sh - has testssl.sh look for weaknesses of the program's TLS, and judges
# what it finds (testssl.py).
#
# usage: testssl.sh PROGRAM [OPTION...]
#
# Options are testssl.sh's own, for a part of its tests (-p). The certificate is of
# an authority that is made here, and lasts long enough. The status is 1 on a
# finding, 77 without testssl.sh.
set -u

PROGRAM=$(realpath "$1")
HERE=$(realpath "$(dirname "$0")")
shift

skip()
{
    echo "testssl: skipped: $1"
    exit 77
}

command -v openssl >/dev/null || skip "no openssl here"
testssl=$(command -v testssl || command -v testssl.sh) ||
    skip "no testssl.sh here (apt-get install testssl.sh)"

folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

make_certificates()
{
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj '/CN=An authority for one test' -days 90 \
        -keyout authority.key -out authority.pem &&
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -subj /CN=localhost -keyout server.key -out server.csr &&
        printf '%s\n' subjectAltName=DNS:localhost keyUsage=digitalSignature \
            extendedKeyUsage=serverAuth basicConstraints=CA:FALSE >extensions &&
        openssl x509 -req -in server.csr -CA authority.pem \
            -CAkey authority.key -CAcreateserial -days 89 \
            -extfile extensions -out server.pem
}

make_certificates >openssl.log 2>&1 || {
    cat openssl.log
    exit 1
}
mkdir www
echo 'Hello.' >www/index.html
"$PROGRAM" --listen https://127.0.0.1:0 --certificate server.pem \
    --certificate-key server.key \
    --hsts 'max-age=63072000; includeSubDomains' www >server.log 2>&1 &
server=$!
for _try in 1 2 3 4 5 6 7 8 9 10; do
    port=$(sed -n 's|.* at https://127.0.0.1:\([0-9]*\)/.*|\1|p' server.log)
    [ -n "$port" ] && break
    sleep 1
done
[ -n "$port" ] || {
    cat server.log
    exit 1
}
timeout 3000 "$testssl" "$@" --quiet --color 0 --warnings off --ip one \
    --add-ca authority.pem --jsonfile found.json \
    "https://localhost:$port/" >found.txt 2>&1
python3 "$HERE/testssl.py" found.json || {
    cat found.txt
    exit 1
}
