#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "suite.h"

/* A literal as struct bytes, for tables. */
#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static struct address from_ipv4(const char *text, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct address address;

    assert_int_equal(inet_pton(AF_INET, text, &in.sin_addr), 1);
    address_from(&address, (const struct sockaddr *)&in);
    return address;
}

static struct address from_ipv6(const char *text, uint16_t port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons(port)};
    struct address address;

    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    address_from(&address, (const struct sockaddr *)&in6);
    return address;
}

static struct address from_unix(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/tmp/socket"};
    struct address address;

    address_from(&address, (const struct sockaddr *)&un);
    return address;
}

static void assert_reads(const struct address *address, const char *text)
{
    char out[ADDRESS_TEXT_MAX];

    memset(out, '#', sizeof(out));
    assert_int_equal(address_format(address, out), strlen(text));
    assert_memory_equal(out, text, strlen(text));
}

TEST(ipv4_is_kept_whole)
{
    struct address address = from_ipv4("192.0.2.1", 65535);

    assert_int_equal(address.family, ADDRESS_IPV4);
    assert_int_equal(address.port, 65535);
    assert_reads(&address, "192.0.2.1");
    address = from_ipv4("255.255.255.255", 1);
    assert_reads(&address, "255.255.255.255");
    address = from_ipv4("0.0.0.0", 0);
    assert_reads(&address, "0.0.0.0");
}

TEST(ipv6_is_kept_whole)
{
    struct address address = from_ipv6("2001:db8::1", 8080);

    assert_int_equal(address.family, ADDRESS_IPV6);
    assert_int_equal(address.port, 8080);
    assert_reads(&address, "2001:db8::1");
    address = from_ipv6("::1", 1);
    assert_reads(&address, "::1");
    address = from_ipv6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1);
    assert_reads(&address, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(ipv4_mapped_ipv6_is_ipv4)
{
    struct address mapped = from_ipv6("::ffff:192.0.2.1", 8080);
    struct address plain = from_ipv4("192.0.2.1", 8080);

    assert_int_equal(mapped.family, ADDRESS_IPV4);
    assert_int_equal(mapped.port, 8080);
    assert_memory_equal(mapped.octets, plain.octets, sizeof(plain.octets));
    assert_reads(&mapped, "192.0.2.1");
}

TEST(what_only_looks_mapped_is_ipv6)
{
    static const char *const texts[] = {"::fffe:c000:201", "::1:ffff:c000:201",
                                        "1::ffff:c000:201"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct address address = from_ipv6(texts[i], 1);

        assert_int_equal(address.family, ADDRESS_IPV6);
        assert_reads(&address, texts[i]);
    }
}

/* All texts are those of inet_ntop(3), but that it writes addresses whose first
 * 96 bits are zero in a way that RFC 4291 2.5.5.1 has given up. */
TEST(texts_are_as_everywhere)
{
    static const uint8_t zero[12];
    uint64_t random = 88172645463325252u;
    char text[ADDRESS_TEXT_MAX];

    for (int i = 0; i < 100000; i++) {
        struct address address = {.family = i % 4 ? ADDRESS_IPV6
                                                  : ADDRESS_IPV4};

        for (int octet = 0; octet < 16; octet++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            /* Zeros in pairs, often; small numbers, often. */
            if (random >> 8 & 3 || octet % 2)
                address.octets[octet] = (uint8_t)(random >> (random >> 6 & 7));
            if (octet % 2 && random >> 32 & 1)
                address.octets[octet] = address.octets[octet - 1] = 0;
        }
        if (i % 4 && memcmp(address.octets, zero, sizeof(zero)) == 0)
            continue;
        assert_non_null(inet_ntop(i % 4 ? AF_INET6 : AF_INET, address.octets,
                                  text, sizeof(text)));
        assert_reads(&address, text);
    }
    assert_reads(&(struct address){.family = ADDRESS_IPV6}, "::");
}

TEST(a_unix_socket_has_no_port)
{
    struct address address = from_unix();

    assert_int_equal(address.family, ADDRESS_UNIX);
    assert_int_equal(address.port, 0);
    assert_reads(&address, "unix:");
}

TEST(another_family_is_unknown_and_not_local)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct address address;

    address_from(&address, &none);
    assert_reads(&address, "unknown");
    assert_false(address_is_local(&address));
    assert_reads(&(struct address){0}, "unknown");
}

TEST(numeric_addresses_are_read_from_text)
{
    static const char *const cases[][2] = {
        {"192.0.2.1", "192.0.2.1"},
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"::", "::"},
        {"2001:DB8::1", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"::FFFF:c000:201", "192.0.2.1"},
        /* the longest there is */
        {"0000:0000:0000:0000:0000:fffe:255.255.255.255", "::fffe:ffff:ffff"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct address address;

        memset(&address, 0xAA, sizeof(address));
        if (!address_parse(&address, bytes_of(cases[i][0])))
            fail_msg("not read: %s", cases[i][0]);
        assert_int_equal(address.port, 0);
        assert_reads(&address, cases[i][1]);
    }
}

TEST(what_is_no_numeric_address_is_refused)
{
    static const struct bytes cases[] = {
        TEXT(""),
        TEXT(" "),
        TEXT("1"),
        TEXT("1.2.3"),
        TEXT("1.2.3.4.5"),
        TEXT("1.2.3.256"),
        TEXT("1.2.3.1000"),
        TEXT("1.2.3.0000"),
        TEXT("1.2.3."),
        TEXT(".1.2.3"),
        TEXT("1..2.3"),
        TEXT("1.2.3.00"),
        TEXT("1.2.3.-4"),
        TEXT("1.2.3.+4"),
        TEXT("01.2.3.4"),
        TEXT("1.2.3.4 "),
        TEXT(" 1.2.3.4"),
        TEXT("1.2.3.4:80"),
        TEXT("0x1.2.3.4"),
        TEXT("[::1]"),
        TEXT("::1%lo"),
        TEXT(":::"),
        TEXT("1::2::3"),
        TEXT("12345::"),
        TEXT("::g"),
        TEXT("unix:"),
        TEXT("localhost"),
        TEXT("1.2.3.4\0"),
        TEXT("1.2\0.3.4"),
        TEXT("0000:0000:0000:0000:0000:0000:255.255.255.2555")};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct address address;

        if (address_parse(&address, cases[i]))
            fail_msg("taken for an address: '%s'", cases[i].data);
    }
}

/* Mostly digits and dots, so that many are addresses and more nearly are. */
TEST(ipv4_is_read_as_inet_pton_reads_it)
{
    static const char alphabet[] = "0001122556789.... :a";
    uint64_t random = 88172645463325252;
    unsigned good = 0;

    for (int i = 0; i < 400000; i++) {
        struct address address;
        uint8_t octets[4];
        char text[17];
        size_t len = 0;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        for (uint64_t left = random; len < 7 + random % 9; len++) {
            text[len] = i % 2 && len % 2 ? '.' : alphabet[left % 20];
            left = left / 20 ^ random << len;
        }
        text[len] = '\0';
        if (strchr(text, ':'))
            continue; /* may be IPv6 */
        if (inet_pton(AF_INET, text, octets) != 1) {
            if (address_parse(&address, bytes_of(text)))
                fail_msg("taken for an address: '%s'", text);
            continue;
        }
        good++;
        if (!address_parse(&address, bytes_of(text)))
            fail_msg("not read: '%s'", text);
        assert_int_equal(address.family, ADDRESS_IPV4);
        assert_memory_equal(address.octets, octets, 4);
    }
    assert_in_range(good, 1000, UINT32_MAX);
}

TEST(unused_octets_are_zero)
{
    static const uint8_t zero[12];
    struct address address;

    memset(&address, 0xAA, sizeof(address));
    address = from_ipv4("192.0.2.1", 1);
    assert_memory_equal(address.octets + 4, zero, sizeof(zero));
}

TEST(loopback_and_unix_sockets_are_local)
{
    static const struct {
        const char *text;
        bool is_local;
    } cases[] = {{"127.0.0.1", true},
                 {"127.255.255.255", true},
                 {"::1", true},
                 {"::ffff:127.0.0.1", true},
                 {"126.255.255.255", false},
                 {"128.0.0.1", false},
                 {"0.0.0.0", false},
                 {"10.0.0.127", false},
                 {"::", false},
                 {"::2", false},
                 {"1::1", false},
                 {"7f00::1", false},
                 {"::127.0.0.1", false}};
    struct address address = {.family = ADDRESS_UNIX};

    assert_true(address_is_local(&address));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(address_parse(&address, bytes_of(cases[i].text)));
        if (address_is_local(&address) != cases[i].is_local)
            fail_msg("'%s'", cases[i].text);
    }
}
