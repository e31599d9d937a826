#!/bin/sh
# deps.sh - finds out which Debian packages are missing and installs them.
#
# usage: deps.sh build|test|fuzz|bench|deb|package|fresh|lint...
#
# As root, or where sudo asks for no password, apt-get does it; otherwise the
# exact command is printed, and the status is 1. Of what only some tests want
# it is said when it cannot be had, no more: they are skipped then. A compiler
# (CC, cc) and make are taken for granted.
set -eu

cc=${CC:-cc}
missing=
wanted=
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT

# have PACKAGE COMMAND...: the package is missing when the command fails.
have()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# like PACKAGE COMMAND...: the same of a package that can be done without.
like()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || wanted="$wanted $package"
}

# header NAME [LIBRARY]: a program that includes it compiles and links.
header()
{
    {
        # cmocka.h wants these before itself.
        echo '#include <stdarg.h>'
        echo '#include <stddef.h>'
        echo '#include <stdint.h>'
        echo '#include <setjmp.h>'
        echo "#include <$1>"
        echo 'int main(void) { return 0; }'
    } > "$probe/probe.c"
    "$cc" -o "$probe/probe" "$probe/probe.c" ${2:+"-l$2"}
}

# The parser of Prometheus' client library, as tests/e2e/test_status.c finds it:
# Debian's Python has the package's, another one may have its own.
metrics_parser()
{
    python3 -c 'import prometheus_client.openmetrics.parser' ||
        /usr/bin/python3 -c 'import prometheus_client.openmetrics.parser'
}

fuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n);
          int LLVMFuzzerTestOneInput(const char *d, unsigned long n)
          { return !d && n; }' > "$probe/fuzz.c"
    clang -fsanitize=fuzzer,address -o "$probe/fuzz" "$probe/fuzz.c"
}

for set in "$@"; do
    case $set in
    build)
        have libev-dev header ev.h ev
        have libhttp-parser-dev header http_parser.h http_parser
        have libxxhash-dev header xxhash.h
        have libseccomp-dev header seccomp.h seccomp
        have libc-ares-dev header ares.h cares
        have libcrypt-dev header crypt.h crypt
        have liblmdb-dev header lmdb.h lmdb
        have libhiredis-dev header hiredis/async.h hiredis
        have libnghttp2-dev header nghttp2/nghttp2.h nghttp2
        have libssl-dev header openssl/ssl.h ssl
        have libcurl4-openssl-dev header curl/curl.h curl
        have libzstd-dev header zstd.h zstd
        have libbrotli-dev header brotli/encode.h brotlienc
        have libdeflate-dev header libdeflate.h deflate
        have zlib1g-dev header zlib.h z
        ;;
    test)
        have libcmocka-dev header cmocka.h cmocka
        # What is compressed is unpacked by others.
        have zstd command -v zstd
        have brotli command -v brotli
        # An authority that does wrong signs with it.
        have openssl command -v openssl
        # Without it the tests of a slow link are skipped.
        have iproute2 env PATH="$PATH:/usr/sbin:/sbin" tc -V
        have xz-utils command -v xz
        # Its small server is one to be put behind ours.
        have python3 command -v python3
        # With it the commands of the pages are run.
        have curl command -v curl
        # With it metrics are read as Prometheus would read them.
        like python3-prometheus-client metrics_parser
        # With it LMDB's own tools read what our store has written.
        like lmdb-utils command -v mdb_stat
        # With it stores are tried that live in Redis, alone and in a cluster.
        like redis-server test -x /usr/bin/redis-server
        like redis-tools test -x /usr/bin/redis-cli
        # With it certificates are got of an authority.
        like ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
        like libfaketime sh -c 'test -e /usr/lib/*/faketime/libfaketime.so.1'
        like pebble sh -c 'command -v pebble || test -x ~/go/bin/pebble'
        # With it the databases of browsers are written and read.
        like libnss3-tools command -v certutil
        # With these the clients of others speak HTTP/2 with the server.
        like nghttp2-client command -v h2load
        # With these the laboratory is tried in miniature.
        like wrk command -v wrk
        like httperf command -v httperf
        like apache2-utils command -v ab
        like gnuplot-nox command -v gnuplot
        ;;
    fuzz)
        have clang command -v clang
        have libclang-rt-14-dev fuzzer
        have llvm command -v llvm-symbolizer
        ;;
    bench)
        have wrk command -v wrk
        have httperf command -v httperf
        have nginx test -x /usr/sbin/nginx
        have lighttpd test -x /usr/sbin/lighttpd
        have lighttpd-mod-openssl test -e /usr/lib/lighttpd/mod_openssl.so
        have h2o command -v h2o
        have iproute2 command -v tc
        have gnuplot-nox command -v gnuplot
        have python3 command -v python3
        # Who else compresses replies.
        like lighttpd-mod-deflate test -e /usr/lib/lighttpd/mod_deflate.so
        like caddy command -v caddy
        # What the reverse proxy is measured against, and with.
        like haproxy test -x /usr/sbin/haproxy
        like apache2-utils command -v ab
        like nghttp2-client command -v h2load
        # What the key-value store is measured against.
        like redis-server command -v redis-server
        like redis-tools command -v redis-benchmark
        like webdis command -v webdis
        # With it a profile by the kernel stands beside our own.
        like linux-perf command -v perf
        ;;
    deb)
        have dpkg-dev command -v dpkg-buildpackage
        have debhelper command -v dh
        have fakeroot command -v fakeroot
        have xz-utils command -v xz
        ;;
    package)
        have lintian command -v lintian
        # Finds the commands of the pages.
        have python3 command -v python3
        have debootstrap test -x /usr/sbin/debootstrap
        # Without it the package is not tried under systemd.
        like systemd-container command -v systemd-nspawn
        # With these a browser looks at a certificate that an authority gave.
        have openssl command -v openssl
        like pebble sh -c 'command -v pebble || test -x ~/go/bin/pebble'
        like chromium command -v chromium
        like libnss3-tools command -v certutil
        ;;
    fresh)
        like debootstrap test -x /usr/sbin/debootstrap
        ;;
    lint)
        have clang-format command -v clang-format
        have clang-tidy command -v clang-tidy
        have python3 command -v python3
        ;;
    *)
        echo "deps.sh: no such set: $set" >&2
        exit 64
        ;;
    esac
done

[ -n "$missing$wanted" ] || exit 0

# Ends with 1, unless what is missing can be done without: then that is said.
give_up()
{
    if [ -z "$missing" ]; then
        echo "deps.sh: without$wanted some tests are left out" >&2
        exit 0
    fi
    echo "$1" >&2
    exit 1
}

install="apt-get install -y --no-install-recommends$missing$wanted"
command -v apt-get >/dev/null || give_up "missing (by Debian's names):$missing"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    give_up "missing:$missing; please run:
    sudo $install"
fi
echo "installing:$missing$wanted"
as_root="$as_root env DEBIAN_FRONTEND=noninteractive"

# Servers to measure against shall be there, not run: not now, on port 80. A
# policy of the system's owner stays.
policy=/usr/sbin/policy-rc.d
case $missing$wanted in
*nginx* | *haproxy* | *lighttpd* | *h2o* | *redis* | *webdis*)
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$probe/policy"
        $as_root install -m 755 "$probe/policy" "$policy"
        trap '$as_root rm -f "$policy"; rm -rf "$probe"' EXIT
    fi
    ;;
esac

# A fresh system has no package lists yet: then the first try fails.
# shellcheck disable=SC2086
try()
{
    $as_root $install >"$probe/log" 2>&1 ||
        { $as_root apt-get update && $as_root $install; } >"$probe/log" 2>&1
}

try && exit 0
if [ -n "$missing" ] && [ -n "$wanted" ]; then
    install="apt-get install -y --no-install-recommends$missing"
    try && missing=
fi
[ -z "$missing" ] || cat "$probe/log" >&2
give_up "could not install; please run:
    sudo $install"
