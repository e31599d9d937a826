/* link: -Wl,--wrap=getrandom */
#include "base/siphash.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>

#include <cmocka.h>

static int refusals; /* of getrandom, still to come */
static int refusal;

ssize_t __real_getrandom(void *to, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t len, unsigned flags)
{
    if (refusals > 0) {
        refusals--;
        errno = refusal;
        return -1;
    }
    return __real_getrandom(to, len, flags);
}

/* As OpenSSL 3 makes them of the octets 0, 1, 2, ... under such a key. */
static void hashes_are_those_of_the_reference(void **state)
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

    (void)state;
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

/* The same, as the 64 bits that OpenSSL 3 makes of them. */
static void the_hash_of_a_word_is_that_of_the_reference(void **state)
{
    static const struct siphash_key key = {
        {0x0706050403020100, 0x0F0E0D0C0B0A0908}};

    (void)state;
    assert_true(siphash_of_word(&key, 0x0706050403020100) ==
                0x93F5F5799A932462);
}

static void each_bit_counts(void **state)
{
    const struct siphash_key key = {{1, 2}};
    char text[24] = {0};
    struct siphash plain = siphash_of(&key, (struct bytes){text, 24});

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof(text); bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(siphash_eq(plain,
                                siphash_of(&key, (struct bytes){text, 24})));
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(siphash_eq(plain, siphash_of(&key, (struct bytes){text, 24})));
}

static void keys_are_never_the_same(void **state)
{
    struct siphash_key a, b;

    (void)state;
    assert_int_equal(siphash_make_key(&a), 0);
    refusals = 1;
    refusal = EINTR;
    assert_int_equal(siphash_make_key(&b), 0);
    assert_memory_not_equal(&a, &b, sizeof(a));
}

static void without_random_bytes_there_is_no_key(void **state)
{
    struct siphash_key key;

    (void)state;
    refusals = 1;
    refusal = ENOSYS;
    assert_int_equal(siphash_make_key(&key), -ENOSYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_the_reference),
        cmocka_unit_test(the_hash_of_a_word_is_that_of_the_reference),
        cmocka_unit_test(each_bit_counts),
        cmocka_unit_test(keys_are_never_the_same),
        cmocka_unit_test(without_random_bytes_there_is_no_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
