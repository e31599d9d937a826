#include "base/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "suite.h"

/* As a socket gives it. */
static struct address from_text(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct address address = {.family = ADDRESS_UNIX};

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        address_from(&address, (const struct sockaddr *)&in);
    else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        address_from(&address, (const struct sockaddr *)&in6);
    return address;
}

TEST(a_block_holds_its_addresses_and_no_other)
{
    static const struct {
        const char *block;
        const char *address;
        bool is_inside;
    } cases[] = {
        {"127.0.0.0/8", "127.0.0.1", true},
        {"127.0.0.0/8", "127.255.255.255", true},
        {"127.0.0.0/8", "128.0.0.0", false},
        {"127.0.0.0/8", "126.255.255.255", false},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.0", false},
        {"192.0.2.1/32", "192.0.2.1", true},
        {"192.0.2.0/31", "192.0.2.1", true},
        {"192.0.2.0/31", "192.0.2.2", false},
        {"10.160.0.0/11", "10.191.255.255", true},
        {"10.160.0.0/11", "10.192.0.0", false},
        {"10.160.0.0/11", "10.159.255.255", false},
        {"128.0.0.0/1", "128.0.0.0", true},
        {"128.0.0.0/1", "127.255.255.255", false},
        {"0.0.0.0/0", "255.255.255.255", true},
        {"0.0.0.0/0", "::1", false},
        {"0.0.0.0/0", "unix", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "192.0.2.1", false},
        {"::/0", "unix", false},
        {"::1", "::1", true},
        {"::1", "::", false},
        {"2001:db8::/32", "2001:db8:ffff::1", true},
        {"2001:db8::/32", "2001:db9::", false},
        {"2001:DB8::/33", "2001:db8:7fff::", true},
        {"2001:DB8::/33", "2001:db8:8000::", false},
        {"2001:db8::8/127", "2001:db8::9", true},
        {"2001:db8::8/127", "2001:db8::a", false},
        {"::ffff:10.0.0.0/104", "10.255.0.1", true},
        {"::ffff:10.0.0.0/104", "11.0.0.0", false},
        {"::ffff:192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "::ffff:192.0.2.1", true},
        {"::ffff:0.0.0.0/96", "1.2.3.4", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct address address = from_text(cases[i].address);
        struct cidr cidr;

        if (!cidr_parse(&cidr, cases[i].block))
            fail_msg("not read: %s", cases[i].block);
        if (cidr_contains(&cidr, &address) != cases[i].is_inside)
            fail_msg("%s in %s", cases[i].address, cases[i].block);
    }
}

TEST(what_is_no_block_is_refused)
{
    static const char *const cases[] = {
        "", "/", "/8", "x", "10", "10.0.0", "10.0.0.0/", "10.0.0.0/33",
        "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8 ",
        " 10.0.0.0/8", "10.0.0.0/8/8", "10.0.0.0/255.0.0.0", "10.0.0.256/32",
        "10.0.0.0/4294967304", "010.0.0.0/8", "::/129", "::/", "::1::/64",
        "[::1]", "::1%lo", "localhost", "unix:", "2001:db8::/32x",
        /* longer than any address */
        "0000:0000:0000:0000:0000:0000:000000000000000000000.0.0.0/8",
        /* bits behind the length */
        "10.0.0.1/8", "192.0.2.3/31", "128.0.0.0/0", "2001:db8::1/64", "::1/0",
        "::ffff:10.0.0.0/95"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cidr cidr;

        if (cidr_parse(&cidr, cases[i]))
            fail_msg("taken for a block: '%s'", cases[i]);
    }
}

/* Against the sum of the addresses' bits, for each length there is. */
TEST(every_length_counts_that_many_bits)
{
    for (unsigned bits = 0; bits <= 32; bits++) {
        struct address all = from_text("255.255.255.255");
        struct cidr cidr = {.family = ADDRESS_IPV4, .bits = (uint8_t)bits};
        uint32_t block = bits == 0 ? 0 : 0xFFFFFFFFu << (32 - bits);

        for (unsigned i = 0; i < 4; i++)
            cidr.octets[i] = (uint8_t)(block >> (24 - 8 * i));
        for (unsigned flipped = 0; flipped < 32; flipped++) {
            struct address address = all;

            address.octets[flipped / 8] ^= (uint8_t)(0x80 >> flipped % 8);
            assert_int_equal(cidr_contains(&cidr, &address), flipped >= bits);
        }
    }
}

TEST(all_holds_whatever_there_is_and_yields_to_a_name)
{
    static const struct address addresses[] = {
        {.family = ADDRESS_UNIX},
        {.family = ADDRESS_IPV4, .octets = {192, 0, 2, 1}},
        {.family = ADDRESS_IPV6, .octets = {0x20, 0x01}}};
    struct cidr all = {.family = CIDR_ALL};
    struct cidr one;
    const struct cidrs none = {NULL, 0}, everybody = {&all, 1}, him = {&one, 1};

    assert_true(cidr_parse(&one, "192.0.2.1"));
    for (size_t i = 0; i < 3; i++) {
        assert_true(cidr_contains(&all, &addresses[i]));
        assert_true(cidrs_admit(&none, &none, &addresses[i]));
        assert_true(cidrs_admit(&everybody, &none, &addresses[i]));
        assert_true(cidrs_admit(&everybody, &everybody, &addresses[i]));
        assert_false(cidrs_admit(&none, &everybody, &addresses[i]));
        assert_int_equal(cidrs_admit(&him, &everybody, &addresses[i]), i == 1);
        assert_int_equal(cidrs_admit(&everybody, &him, &addresses[i]), i != 1);
    }
    assert_false(cidrs_admit(&him, &him, &addresses[1]));
    assert_false(cidr_parse(&one, "all"));
}
