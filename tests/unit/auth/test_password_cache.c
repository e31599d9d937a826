#include "auth/password_cache.h"

#include "suite.h"

static struct password_cache cache;

static struct siphash digest_of(uint64_t number)
{
    return (struct siphash){{number, ~number}};
}

static int set_up(void **state)
{
    (void)state;
    cache = (struct password_cache){0};
    return 0;
}

TEST(what_was_right_is_known_for_a_minute)
{
    password_cache_put(&cache, digest_of(7), 1000);
    assert_true(password_cache_has(&cache, digest_of(7), 1000));
    assert_true(password_cache_has(&cache, digest_of(7), 60999));
    assert_false(password_cache_has(&cache, digest_of(7), 61000));
}

TEST(nothing_else_is_known)
{
    assert_false(password_cache_has(&cache, (struct siphash){{0, 0}}, 0));
    password_cache_put(&cache, digest_of(7), 1000);
    assert_false(password_cache_has(&cache, (struct siphash){{7, 7}}, 1000));
    assert_false(password_cache_has(&cache, (struct siphash){{8, ~UINT64_C(7)}},
                                    1000));
}

TEST(being_right_again_makes_it_last)
{
    password_cache_put(&cache, digest_of(7), 1000);
    password_cache_put(&cache, digest_of(7), 50000);
    assert_true(password_cache_has(&cache, digest_of(7), 109999));
    /* In one place: there is room for others. */
    for (uint64_t i = 1; i < PASSWORD_CACHE_WAYS; i++)
        password_cache_put(&cache, digest_of(7 + i * PASSWORD_CACHE_SETS),
                           1000);
    assert_true(password_cache_has(&cache, digest_of(7), 50000));
    assert_true(password_cache_has(&cache, digest_of(7 + PASSWORD_CACHE_SETS),
                                   50000));
}

TEST(the_oldest_of_a_full_set_makes_room)
{
    for (uint64_t i = 0; i <= PASSWORD_CACHE_WAYS; i++)
        password_cache_put(&cache, digest_of(i * PASSWORD_CACHE_SETS),
                           1000 + i);
    assert_false(password_cache_has(&cache, digest_of(0), 2000));
    for (uint64_t i = 1; i <= PASSWORD_CACHE_WAYS; i++)
        assert_true(password_cache_has(&cache,
                                       digest_of(i * PASSWORD_CACHE_SETS),
                                       2000));
}

SUITE(.each_begin = set_up);
