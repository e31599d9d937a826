#include "kv/redis/kv_redis_priv.h"

#include "suite.h"

static struct kv_redis_url url;

TEST(everything_is_read)
{
    assert_null(kv_redis_url_read(
        &url, "redis://app:p%40ss%3Aw@a.example:7001,[2001:db8::1]:7002,"
              "192.0.2.1/12?name=shop-1"));
    assert_string_equal(url.user, "app");
    assert_string_equal(url.password, "p@ss:w");
    assert_int_equal(url.seed_count, 3);
    assert_string_equal(url.seeds[0].host, "a.example");
    assert_int_equal(url.seeds[0].port, 7001);
    assert_string_equal(url.seeds[1].host, "2001:db8::1");
    assert_int_equal(url.seeds[1].port, 7002);
    assert_string_equal(url.seeds[2].host, "192.0.2.1");
    assert_int_equal(url.seeds[2].port, 6379);
    assert_int_equal(url.db, 12);
    assert_string_equal(url.name, "shop-1");
}

TEST(what_is_not_said_is_the_usual)
{
    assert_null(kv_redis_url_read(&url, "redis://localhost"));
    assert_string_equal(url.user, "");
    assert_string_equal(url.password, "");
    assert_int_equal(url.seeds[0].port, 6379);
    assert_int_equal(url.db, 0);
    assert_string_equal(url.name, "sprintd");
}

TEST(a_password_needs_no_user)
{
    assert_null(kv_redis_url_read(&url, "redis://:secret@h/"));
    assert_string_equal(url.user, "");
    assert_string_equal(url.password, "secret");
}

TEST(what_is_no_such_url_is_refused)
{
    static const char *const cases[] = {
        "",
        "redis",
        "redis:h:1",
        "redis://",
        "redis://:1",
        "redis:///1",
        "redis://h:",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:99999999999999999999",
        "redis://h:1x",
        "redis://h:-1",
        "redis://h,",
        "redis://,h",
        "redis://a b",
        "redis://h{1}",
        "redis://[::1",
        "redis://[::1]x",
        "redis://[]",
        "redis://[::1]:",
        "redis://user@h",
        "redis://user:@h",
        "redis://user:%zz@h",
        "redis://user:%00@h",
        "redis://h/x",
        "redis://h/65536",
        "redis://h/1/2",
        "redis://h?name=",
        "redis://h?name=a{b}",
        "redis://h?name=a:b",
        "redis://h?other=a",
        "redis://h?name=a&db=1",
        "rediss:h:1",
        "rediss://",
        "redisss://h:1",
        "valkey://h:1",
        "unix:///tmp/redis.sock",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (!kv_redis_url_read(&url, cases[i]))
            fail_msg("'%s' was read", cases[i]);
}

/* start, one byte len times, and end. */
static const char *repeat(const char *start, char byte, size_t len,
                          const char *end)
{
    static char text[2048];
    size_t at = strlen(start);

    memcpy(text, start, at);
    memset(text + at, byte, len);
    memcpy(text + at + len, end, strlen(end) + 1);
    return text;
}

TEST(each_part_has_a_limit)
{
    assert_null(kv_redis_url_read(&url, repeat("redis://", 'h', 253, "")));
    assert_non_null(kv_redis_url_read(&url, repeat("redis://", 'h', 254, "")));
    assert_null(kv_redis_url_read(&url, repeat("redis://:", 'p', 512, "@h")));
    assert_non_null(kv_redis_url_read(&url,
                                      repeat("redis://:", 'p', 513, "@h")));
    assert_null(kv_redis_url_read(&url,
                                  repeat("redis://h?name=", 'n', 64, "")));
    assert_non_null(kv_redis_url_read(&url,
                                      repeat("redis://h?name=", 'n', 65, "")));
}

TEST(sixteen_machines_are_the_most)
{
    assert_null(kv_redis_url_read(&url,
                                  "redis://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p/1"));
    assert_int_equal(url.seed_count, KV_REDIS_SEEDS_MAX);
    assert_non_null(
        kv_redis_url_read(&url, "redis://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/1"));
}

TEST(one_letter_more_asks_for_tls)
{
    assert_null(kv_redis_url_read(&url, "rediss://u:p@a.example,[::1]:1/3"));
    assert_true(url.is_tls);
    assert_string_equal(url.seeds[0].host, "a.example");
    assert_int_equal(url.seeds[0].port, 6379);
    assert_string_equal(url.seeds[1].host, "::1");
    assert_int_equal(url.db, 3);
    assert_null(kv_redis_url_read(&url, "redis://a.example"));
    assert_false(url.is_tls);
    assert_true(kv_redis_is_tls("rediss://h"));
    assert_false(kv_redis_is_tls("redis://h"));
}

TEST(folders_are_no_urls)
{
    assert_false(kv_redis_is_url("./data"));
    assert_false(kv_redis_is_url("/var/lib/redis"));
    assert_false(kv_redis_is_url("redis"));
    assert_true(kv_redis_is_url("redis:x"));
    assert_true(kv_redis_is_url("rediss://h"));
    assert_true(kv_redis_is_url("http://h"));
}
