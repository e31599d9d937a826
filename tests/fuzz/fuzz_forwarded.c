/*
 * fuzz_forwarded - X-Forwarded-For and Forwarded, from behind trusted proxies.
 *
 * The first byte says which field it is, the rest are its lines. Whatever
 * stands in them: when the peer is not trusted, it is the client; a proxy
 * elsewhere has no clients on this machine; who is trusted and has spoken last
 * is believed, whatever was written before. Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/forwarded.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

enum { LINES_MAX = 8 };

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct address address_of(const char *text)
{
    struct address address;

    CHECK(address_parse(&address, bytes_of(text)));
    return address;
}

static bool is_same(const struct address *a, const struct address *b)
{
    return a->family == b->family && a->port == b->port &&
           memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

/* Lines of text become fields. */
static void fill(struct request *request, enum field_id id, struct bytes text)
{
    static struct field fields[LINES_MAX + 1];

    *request = (struct request){.fields = fields};
    for (unsigned i = 0; i < LINES_MAX && text.data; i++) {
        const char *end = text.data + text.len;
        const char *feed = text.len > 0 ? memchr(text.data, '\n', text.len)
                                        : NULL;
        struct bytes line = bytes_between(text.data, feed ? feed : end);

        request->fields[request->field_count++] = (struct field){.value = line,
                                                                 .id = id};
        request->seen = 1u << id;
        text = feed ? bytes_between(feed + 1, end) : (struct bytes){NULL, 0};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cidr blocks[2];
    bool is_rfc7239 = size > 0 && data[0] % 2 == 1;
    enum field_id id = is_rfc7239 ? FIELD_FORWARDED : FIELD_X_FORWARDED_FOR;
    struct forwarded_trust trust = {.field = is_rfc7239 ? FORWARDED_RFC7239
                                                        : FORWARDED_X_FOR,
                                    .blocks = blocks,
                                    .block_count = 2};
    const struct address proxy = address_of("10.0.0.1");
    const struct address stranger = address_of("192.0.2.1");
    const struct address last = address_of("203.0.113.5");
    struct request request;
    struct address client;
    char text[ADDRESS_TEXT_MAX];
    char *copy;

    if (size == 0)
        return 0;
    CHECK(cidr_parse(&blocks[0], "10.0.0.0/8"));
    CHECK(cidr_parse(&blocks[1], "2001:db8::/32"));
    copy = malloc(size); /* so that a sanitizer sees the next byte */
    CHECK(copy);
    memcpy(copy, data + 1, size - 1);
    fill(&request, id, (struct bytes){copy, size - 1});

    client = forwarded_client(&request, &stranger, &trust);
    CHECK(is_same(&client, &stranger));
    client = forwarded_client(&request, &proxy, &trust);
    CHECK(client.family != ADDRESS_UNIX && !address_is_local(&client));
    CHECK(address_format(&client, text) < sizeof(text));
    /* The proxy adds, in a line of its own, whom it got all this from. */
    request.fields[request.field_count++] = (struct field){
        .value = is_rfc7239 ? BYTES("for=203.0.113.5") : BYTES("203.0.113.5"),
        .id = id};
    client = forwarded_client(&request, &proxy, &trust);
    CHECK(is_same(&client, &last));
    free(copy);
    return 0;
}
