/*
 * fuzz_proxy_protocol - what comes first on a connection from a proxy.
 *
 * Whatever it is, it must come to the same whole and byte by byte: every
 * beginning of what is taken wants more; nothing wants more when it has come
 * to PROXY_PROTOCOL_BYTES_MAX; what is refused stays refused. Any breach
 * aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/proxy_protocol.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From a copy of exactly that size, so that a sanitizer sees the next byte. */
static enum proxy_protocol_verdict parse(struct proxy_protocol *proxy,
                                         const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    enum proxy_protocol_verdict verdict;

    CHECK(copy);
    memcpy(copy + 1, data, size);
    verdict = proxy_protocol_parse(proxy, (struct bytes){copy + 1, size});
    free(copy);
    return verdict;
}

static bool is_same(const struct proxy_protocol *a,
                    const struct proxy_protocol *b)
{
    return a->used == b->used && a->is_local == b->is_local &&
           a->source.family == b->source.family &&
           a->source.port == b->source.port &&
           memcmp(a->source.octets, b->source.octets, 16) == 0;
}

static void check_pieces(const uint8_t *data, size_t size,
                         const struct proxy_protocol *whole,
                         enum proxy_protocol_verdict verdict)
{
    struct proxy_protocol piece;

    for (size_t len = 0; len <= size; len++) {
        enum proxy_protocol_verdict now = parse(&piece, data, len);

        CHECK(now != PROXY_PROTOCOL_MORE || len < PROXY_PROTOCOL_BYTES_MAX);
        if (now == PROXY_PROTOCOL_MORE)
            continue;
        CHECK(now == verdict);
        CHECK(now == PROXY_PROTOCOL_BAD || is_same(&piece, whole));
        CHECK(now == PROXY_PROTOCOL_BAD || len == whole->used);
        return;
    }
    CHECK(verdict == PROXY_PROTOCOL_MORE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_protocol whole;
    enum proxy_protocol_verdict verdict;
    char text[ADDRESS_TEXT_MAX];

    if (size > 2 * PROXY_PROTOCOL_BYTES_MAX)
        size = 2 * PROXY_PROTOCOL_BYTES_MAX;
    verdict = parse(&whole, data, size);
    if (verdict == PROXY_PROTOCOL_DONE) {
        CHECK(whole.used <= size && whole.used <= PROXY_PROTOCOL_BYTES_MAX);
        CHECK(whole.source.family != ADDRESS_UNIX);
        CHECK(!whole.is_local || whole.source.family == ADDRESS_UNKNOWN);
        CHECK(address_format(&whole.source, text) < sizeof(text));
    }
    check_pieces(data, size, &whole, verdict);
    return 0;
}
