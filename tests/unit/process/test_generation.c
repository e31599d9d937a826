/* link: -Wl,--wrap=open */
#include "process/generation.h"

#include <sysexits.h>

#include "config/configuration.h"
#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

#define HASH "$2y$04$abcdefghijklmnopqrstuuxNlzJzXFz0R0fyKbCM1Cf8Gp0Y1fV2W"

static struct place place;
static struct generation *generation;
static struct generation *before; /* what was in force, for make() */
static bool is_denied;            /* to read tokens */
static const struct options *options;
static char *said;

WRAP(int, open, const char *path, int flags, ...)
{
    size_t len = strlen(path);
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (is_denied && len > 6 && strcmp(path + len - 6, "tokens") == 0) {
        errno = EACCES;
        return -1;
    }
    return __real_open(path, flags, mode);
}

static int set_up(void **state)
{
    (void)state;
    if (place_open(&place) != 0 || mkdirat(place.fd, "www", 0755) != 0 ||
        mkdirat(place.fd, "other", 0755) != 0 ||
        place_write(&place, "users", "joe:" HASH "\n") != 0)
        return -1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    generation_release(generation);
    generation_release(before);
    generation = before = NULL;
    is_denied = false;
    free(said);
    said = NULL;
    return place_close_tidy(&place);
}

/* Puts a configuration in force; its status. */
static int make(const char *text)
{
    char path[PLACE_NAME_MAX + 20];
    char *arguments[] = {(char[]){"sprintd"}, path, NULL};
    struct options read;
    size_t len;
    FILE *errors = open_memstream(&said, &len);
    int status;

    assert_non_null(errors);
    assert_int_equal(place_write(&place, "conf", text), 0);
    snprintf(path, sizeof(path), "--config=%s/conf", place.name);
    assert_int_equal(configuration_read(&read, 2, arguments, errors), EX_OK);
    generation = generation_create(&read, before, errors, &status);
    assert_null(read.sites); /* taken over, whatever comes of it */
    assert_int_equal(fclose(errors), 0);
    assert_int_equal(generation != NULL, status == EX_OK);
    options = generation ? generation_options(generation) : NULL;
    return status;
}

static const struct location_options *location(size_t site, size_t at)
{
    return &options->sites[site].locations[at].options;
}

TEST(roots_are_opened_once_and_closed_with_it)
{
    assert_int_equal(make("root = www\nsite a { location /x { } }\n"
                          "site b { root = other location /y { root = www } }"),
                     EX_OK);
    assert_int_equal(place_count_fds(), place.fds + 2);
    assert_false(generation_has_passwords(generation));
    generation_hold(generation);
    generation_release(generation);
    assert_int_equal(place_count_fds(), place.fds + 2);
}

TEST(one_file_of_passwords_is_shared)
{
    assert_int_equal(make("root = www\nauth-file = users\nsite a {\n"
                          "location /x { } location /y { auth-file = off }\n"
                          "}"),
                     EX_OK);
    assert_true(generation_has_passwords(generation));
    assert_non_null(options->sites[0].options.htpasswd);
    assert_ptr_equal(location(0, 0)->htpasswd,
                     options->sites[0].options.htpasswd);
    assert_null(location(0, 1)->htpasswd);
}

TEST(a_limit_is_shared_by_whom_it_is_told_to_at_once)
{
    assert_int_equal(make("root = www\nrate-limit = 1/s\nsite a {\n"
                          "    location /x { }\n"
                          "    location /burst { rate-burst = 3 }\n"
                          "    location /own { rate-limit = 1/s }\n"
                          "    location /off { rate-limit = off }\n"
                          "    location /again { rate-burst = 3 }\n"
                          "}\nsite b { }\n"),
                     EX_OK);
    assert_non_null(options->sites[0].options.limiter);
    assert_ptr_equal(options->sites[1].options.limiter,
                     options->sites[0].options.limiter);
    assert_ptr_equal(location(0, 0)->limiter,
                     options->sites[0].options.limiter);
    assert_ptr_not_equal(location(0, 1)->limiter,
                         options->sites[0].options.limiter);
    assert_ptr_not_equal(location(0, 2)->limiter,
                         options->sites[0].options.limiter);
    assert_null(location(0, 3)->limiter);
    assert_ptr_equal(location(0, 4)->limiter, location(0, 1)->limiter);
}

TEST(what_is_not_there_is_told_and_leaves_nothing_open)
{
    static const struct {
        const char *text;
        int status;
        const char *words;
    } cases[] = {
        {"root = lost", EX_NOINPUT, "lost': No such file or directory; name"},
        {"root = users", EX_NOINPUT, "users': Not a directory"},
        {"root = www\nsite a { location /x { root = lost } }", EX_NOINPUT,
         "lost': No such"},
        {"root = www\nauth-file = lost", EX_NOINPUT,
         "lost': No such file or directory"},
        {"root = www\nsite a { location /x { auth-file = conf } }", EX_CONFIG,
         "conf':1: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        free(said);
        said = NULL;
        if (make(cases[i].text) != cases[i].status ||
            !strstr(said, cases[i].words))
            fail_msg("%s: %s", cases[i].text, said);
        assert_int_equal(place_count_fds(), place.fds);
    }
}

static const struct kv_tokens *tokens(const struct generation *of)
{
    struct generation *mine = (struct generation *)(uintptr_t)of;

    return generation_service(mine, NULL, 1, 1).kv_access.tokens;
}

/* Puts another in force, which is to say that. */
static int make_again(const char *text)
{
    generation_release(before);
    before = generation;
    generation = NULL;
    free(said);
    said = NULL;
    return make(text);
}

#define TOKENS "root = www\nkv-token = tokens\n"

TEST(who_may_write_is_read_with_it)
{
    struct worker_service service;

    assert_int_equal(place_write(&place, "tokens", "0123456789abcdef\n"), 0);
    assert_int_equal(make(TOKENS "kv-open-writes = true\n"), EX_OK);
    service = generation_service(generation, NULL, 1, 1);
    assert_int_equal(service.kv_access.tokens->count, 1);
    assert_true(service.kv_access.open_writes);
    assert_false(service.kv_access.read_only);
    assert_int_equal(place_write(&place, "tokens",
                                 "0123456789abcdef\nfedcba9876543210\n"),
                     0);
    assert_int_equal(make_again(TOKENS), EX_OK);
    assert_int_equal(tokens(generation)->count, 2);
    assert_int_equal(tokens(before)->count, 1);
    assert_string_equal(said, "");
}

TEST(faulty_tokens_are_told)
{
    assert_int_equal(make(TOKENS), EX_NOINPUT);
    assert_non_null(strstr(said, "tokens': No such file or directory\n"));
    assert_int_equal(place_write(&place, "tokens", "0123456789abcdef\nx\n"), 0);
    assert_int_equal(make_again(TOKENS), EX_CONFIG);
    assert_non_null(strstr(said, "tokens':2: a token has 16 letters"));
    is_denied = true;
    assert_int_equal(make_again(TOKENS), EX_NOINPUT);
    assert_non_null(strstr(said, "tokens': Permission denied\n"));
}

TEST(tokens_stay_when_the_right_to_read_them_is_gone)
{
    const struct kv_tokens *first;

    assert_int_equal(place_write(&place, "tokens", "0123456789abcdef\n"), 0);
    assert_int_equal(make(TOKENS), EX_OK);
    first = tokens(generation);
    is_denied = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(make_again(TOKENS), EX_OK);
        assert_ptr_equal(tokens(generation), first);
        assert_non_null(strstr(said, "its tokens stay as they were"));
    }
    /* But never for another file. */
    assert_int_equal(mkdirat(place.fd, "new", 0755), 0);
    assert_int_equal(make_again("root = www\nkv-token = new/tokens\n"),
                     EX_NOINPUT);
    assert_int_equal(unlinkat(place.fd, "new", AT_REMOVEDIR), 0);
}

TEST(trust_is_what_is_told)
{
    static const struct {
        const char *text;
        enum forwarded_field field;
    } cases[] = {
        {"root = www", FORWARDED_NONE},
        {"root = www client-address = forwarded", FORWARDED_NONE},
        {"root = www trusted-proxies = 10.0.0.0/8", FORWARDED_X_FOR},
        {"root = www trusted-proxies = ::1 client-address = forwarded",
         FORWARDED_RFC7239},
        {"root = www trusted-proxies = ::1 client-address = none",
         FORWARDED_NONE},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct worker_service service;

        assert_int_equal(make(cases[i].text), EX_OK);
        service = generation_service(generation, NULL, 7, 9);
        assert_int_equal(service.sites.trust.field, cases[i].field);
        assert_int_equal(service.limits.connections_max, 7);
        assert_int_equal(service.sites.cache.descriptors_max, 9);
        generation_release(generation);
        generation = NULL;
        free(said);
        said = NULL;
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
