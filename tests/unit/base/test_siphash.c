/* link: -Wl,--wrap=getrandom */
#include "base/siphash.h"

#include "suite.h"
#include "unit/random.h"

/* As OpenSSL 3 makes them of the octets 0, 1, 2, ... under such a key. */
TEST(hashes_are_those_of_the_reference)
{
    static const struct siphash_key key = {
        {0x0706050403020100, 0x0F0E0D0C0B0A0908}};
    static const struct {
        size_t len;
        struct siphash hash;
    } cases[] = {
        {0, {{0xE6A825BA047F81A3, 0x930255C71472F66D}}},
        {1, {{0x44AF996BD8C187DA, 0x45FC229B11597634}}},
        {2, {{0xC75DA4A48D227781, 0xE4FF0AF6DE8BA3FC}}},
        {15, {{0x11A8B03399E99354, 0xD9C3CF970FEC087E}}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *octets = malloc(cases[i].len + 1);
        struct siphash hash;

        assert_non_null(octets);
        for (size_t at = 0; at < cases[i].len; at++)
            octets[at] = (char)at;
        hash = siphash_of(&key, (struct bytes){octets, cases[i].len});
        assert_true(siphash_eq(hash, cases[i].hash));
        free(octets);
    }
}

/* The vector of SipHash-1-3 for eight octets. */
TEST(the_hash_of_a_word_is_that_of_the_reference)
{
    static const struct siphash_key key = {
        {0x0706050403020100, 0x0F0E0D0C0B0A0908}};

    assert_true(siphash_of_word(&key, 0x0706050403020100) ==
                0x369095118D299A8E);
}

TEST(each_bit_counts)
{
    const struct siphash_key key = {{1, 2}};
    char text[24] = {0};
    struct siphash plain = siphash_of(&key, (struct bytes){text, 24});

    for (size_t bit = 0; bit < 8 * sizeof(text); bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(siphash_eq(plain,
                                siphash_of(&key, (struct bytes){text, 24})));
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(siphash_eq(plain, siphash_of(&key, (struct bytes){text, 24})));
}

TEST(keys_are_never_the_same)
{
    struct siphash_key a, b;

    assert_int_equal(siphash_make_key(&a), 0);
    random_failures_left = 1;
    random_errno = EINTR;
    assert_int_equal(siphash_make_key(&b), 0);
    assert_memory_not_equal(&a, &b, sizeof(a));
}

TEST(without_random_bytes_there_is_no_key)
{
    struct siphash_key key;

    random_failures_left = 1;
    random_errno = ENOSYS;
    assert_int_equal(siphash_make_key(&key), -ENOSYS);
}
