#include "http/proxy_protocol.h"

#include "suite.h"

/* A literal as struct bytes, for tables. */
#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define IPV4_BLOCK "\xC0\x00\x02\x01\xC6\x33\x64\x01\xDC\x04\x01\xBB"
#define IPV6_BLOCK                               \
    "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01" \
    "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x02\xDC\x04\x01\xBB"
#define MAPPED_BLOCK                               \
    "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xC0\x00\x02\x01" \
    "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x02\xDC\x04\x01\xBB"

/* From a copy of exactly that size, so that a sanitizer sees the next byte. */
static enum proxy_protocol_verdict parse(struct proxy_protocol *proxy,
                                         struct bytes text)
{
    char *copy = malloc(text.len + (text.len == 0));
    enum proxy_protocol_verdict verdict;

    assert_non_null(copy);
    memcpy(copy, text.data, text.len);
    verdict = proxy_protocol_parse(proxy, (struct bytes){copy, text.len});
    free(copy);
    return verdict;
}

/* "192.0.2.1 56324", "unknown", or "local". */
static const char *describe(const struct proxy_protocol *proxy)
{
    static char out[ADDRESS_TEXT_MAX + 8];
    char text[ADDRESS_TEXT_MAX];

    if (proxy->is_local)
        return "local";
    address_format(&proxy->source, text);
    if (proxy->source.family == ADDRESS_UNKNOWN)
        return memcpy(out, text, sizeof(text));
    snprintf(out, sizeof(out), "%s %u", text, proxy->source.port);
    return out;
}

static const struct {
    struct bytes text; /* to where the client begins */
    const char *source;
} good[] = {
    {TEXT("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"),
     "192.0.2.1 56324"},
    {TEXT("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
     "255.255.255.255 65535"},
    {TEXT("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n"), "0.0.0.0 0"},
    {TEXT("PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n"), "2001:db8::1 1"},
    {TEXT("PROXY TCP6 ::ffff:192.0.2.1 ::ffff:192.0.2.2 1 2\r\n"),
     "192.0.2.1 1"},
    {TEXT("PROXY UNKNOWN\r\n"), "unknown"},
    {TEXT("PROXY UNKNOWN whatever it is\r\n"), "unknown"},
    /* the longest line there may be */
    {TEXT("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
     "unknown"},
    {TEXT(SIGNATURE "\x21\x11\0\x0C" IPV4_BLOCK), "192.0.2.1 56324"},
    {TEXT(SIGNATURE "\x21\x21\0\x24" IPV6_BLOCK), "2001:db8::1 56324"},
    {TEXT(SIGNATURE "\x21\x21\0\x24" MAPPED_BLOCK), "192.0.2.1 56324"},
    /* with more behind: a CRC32C, a NOOP */
    {TEXT(SIGNATURE "\x21\x11\0\x17" IPV4_BLOCK
                    "\x03\0\x04\x01\x02\x03\x04\x04\0\x01\0"),
     "192.0.2.1 56324"},
    {TEXT(SIGNATURE "\x20\0\0\0"), "local"},
    {TEXT(SIGNATURE "\x20\x11\0\x0C" IPV4_BLOCK), "local"},
    {TEXT(SIGNATURE "\x20\xFF\0\x02xx"), "local"},
    {TEXT(SIGNATURE "\x21\0\0\0"), "unknown"},
    {TEXT(SIGNATURE "\x21\x01\0\x03xyz"), "unknown"},
    {TEXT(SIGNATURE "\x21\x12\0\x0C" IPV4_BLOCK), "unknown"},
};

TEST(each_form_says_who_the_client_is)
{
    struct proxy_protocol proxy;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (parse(&proxy, good[i].text) != PROXY_PROTOCOL_DONE)
            fail_msg("case %zu is not taken", i);
        assert_int_equal(proxy.used, good[i].text.len);
        assert_string_equal(describe(&proxy), good[i].source);
    }
}

TEST(any_beginning_of_it_wants_more)
{
    struct proxy_protocol proxy;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        for (size_t len = 0; len < good[i].text.len; len++)
            if (parse(&proxy, (struct bytes){good[i].text.data, len}) !=
                PROXY_PROTOCOL_MORE)
                fail_msg("case %zu, %zu bytes", i, len);
}

TEST(what_the_client_sends_behind_it_is_left)
{
    struct proxy_protocol proxy;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        char text[512];
        size_t len = good[i].text.len;

        memcpy(text, good[i].text.data, len);
        memcpy(text + len, "GET / HTTP/1.1\r\n\r\n", 18);
        assert_int_equal(parse(&proxy, (struct bytes){text, len + 18}),
                         PROXY_PROTOCOL_DONE);
        assert_int_equal(proxy.used, len);
    }
}

TEST(a_unix_client_is_unknown)
{
    char text[16 + 216] = SIGNATURE "\x21\x31\0\xD8/tmp/client";
    struct proxy_protocol proxy;

    assert_int_equal(parse(&proxy, (struct bytes){text, sizeof(text)}),
                     PROXY_PROTOCOL_DONE);
    assert_string_equal(describe(&proxy), "unknown");
    assert_int_equal(proxy.used, sizeof(text));
}

TEST(what_is_not_of_the_protocol_is_refused)
{
    static const struct bytes cases[] = {
        TEXT("G"),
        TEXT("GET / HTTP/1.1\r\n"),
        TEXT("PROXY_"),
        TEXT("proxy TCP4"),
        TEXT("\r\n\r\nQ"),
        TEXT("\0"),
        TEXT("PROXY \r\n"),
        TEXT("PROXY TCP4\r\n"),
        TEXT("PROXY UNKNOWN\n"),
        TEXT("PROXY UNKNOWNS\r\n"),
        TEXT("PROXY  UNKNOWN\r\n"),
        TEXT("PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n"),
        TEXT("PROXY tcp4 1.2.3.4 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"),
        TEXT("PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3 1 2\r\n"),
        TEXT("PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP4 ::1 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP4 ::ffff:1.2.3.4 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP6 1.2.3.4 ::1 1 2\r\n"),
        TEXT("PROXY TCP6 ::1 1.2.3.4 1 2\r\n"),
        TEXT("PROXY TCP6 [::1] ::1 1 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 x\r\n"),
        TEXT("PROXY TCP4 1.2.3.4 1.2.3.4 1 000000\r\n"),
        TEXT("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n"),
        /* 107 bytes without an end */
        TEXT("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
             "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535  "),
        /* its end is at the 108th */
        TEXT("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
             "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535 \r\n"),
        TEXT(SIGNATURE "\x11"),
        TEXT(SIGNATURE "\x31"),
        TEXT(SIGNATURE "\x22"),
        TEXT(SIGNATURE "\x2F"),
        TEXT(SIGNATURE "\x21\x41\0\0"),
        TEXT(SIGNATURE "\x21\x13\0\x0C"),
        TEXT(SIGNATURE "\x21\x11\0\x0B"),
        TEXT(SIGNATURE "\x21\x21\0\x23"),
        TEXT(SIGNATURE "\x21\x31\0\xD7"),
        /* 16 + 1009 bytes; and the most there can be */
        TEXT(SIGNATURE "\x21\x11\x03\xF1"),
        TEXT(SIGNATURE "\x20\x00\xFF\xFF"),
    };
    struct proxy_protocol proxy;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (parse(&proxy, cases[i]) != PROXY_PROTOCOL_BAD)
            fail_msg("case %zu is taken: %s", i, cases[i].data);
}

TEST(the_longest_of_version_2_is_taken)
{
    char text[PROXY_PROTOCOL_BYTES_MAX] = SIGNATURE
        "\x21\x11\x03\xF0" IPV4_BLOCK;
    struct proxy_protocol proxy;

    assert_int_equal(parse(&proxy, (struct bytes){text, sizeof(text) - 1}),
                     PROXY_PROTOCOL_MORE);
    assert_int_equal(parse(&proxy, (struct bytes){text, sizeof(text)}),
                     PROXY_PROTOCOL_DONE);
    assert_string_equal(describe(&proxy), "192.0.2.1 56324");
}
