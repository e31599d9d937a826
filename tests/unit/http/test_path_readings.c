/* How servers behind this one may read a path else. */
#include "http/path.h"

#include "suite.h"
#include "unit/draw.h"

enum { BOTH = PATH_WITHOUT_PARAMETERS | PATH_WITH_BACKSLASHES };

/* What is left of a copy of exactly that size; NULL: it is refused. */
static const char *read_as(const char *raw, unsigned reading)
{
    static char text[100];
    size_t len = strlen(raw);
    char *copy = malloc(len);
    char *out = malloc(len);
    struct path path;
    bool is_clean;

    assert_non_null(copy);
    assert_non_null(out);
    memcpy(copy, raw, len);
    is_clean = path_clean_as((struct bytes){copy, len}, reading, out, &path);
    if (is_clean) {
        memcpy(text, path.clean.data, path.clean.len);
        text[path.clean.len] = '\0';
    }
    free(copy);
    free(out);
    return is_clean ? text : NULL;
}

TEST(each_reading_has_its_path)
{
    static const struct {
        const char *raw;
        unsigned reading;
        const char *path; /* NULL: refused */
    } cases[] = {
        {"/a;b\\c", 0, "/a;b\\c"},
        {"/a;b=c", PATH_WITHOUT_PARAMETERS, "/a"},
        {"/a;b/c;d;e/f", PATH_WITHOUT_PARAMETERS, "/a/c/f"},
        {"/;/a", PATH_WITHOUT_PARAMETERS, "/a"},
        {"/a%3bb/c", PATH_WITHOUT_PARAMETERS, "/a/c"},
        {"/a%3Bb%41/%63", PATH_WITHOUT_PARAMETERS, "/a/c"},
        {"/a;b\\c", PATH_WITHOUT_PARAMETERS, "/a"},
        {"/a/..;/b", PATH_WITHOUT_PARAMETERS, "/b"},
        {"/a/%2e%2e;/b", PATH_WITHOUT_PARAMETERS, "/b"},
        {"/..;/b", PATH_WITHOUT_PARAMETERS, NULL},
        {"/a%253b", PATH_WITHOUT_PARAMETERS, "/a%3b"},
        {"/a\\b", PATH_WITH_BACKSLASHES, "/a/b"},
        {"/\\a", PATH_WITH_BACKSLASHES, "/a"},
        {"/a%5cb%5Cc", PATH_WITH_BACKSLASHES, "/a/b/c"},
        {"/a\\..\\b", PATH_WITH_BACKSLASHES, "/b"},
        {"/..\\b", PATH_WITH_BACKSLASHES, NULL},
        {"/a;b\\c", PATH_WITH_BACKSLASHES, "/a;b/c"},
        {"/a;b\\c", BOTH, "/a/c"},
        {"/a\\;b/c", BOTH, "/a/c"},
        {"/a;%2fb", BOTH, "/a"},
        {"/a%2fb;", BOTH, NULL},
        {"/a;%", BOTH, "/a"},
        {"/a%;", BOTH, NULL},
        {"//a/b", PATH_WITHOUT_AUTHORITY, "/b"},
        {"///a/b/c", PATH_WITHOUT_AUTHORITY, "/b/c"},
        {"//a", PATH_WITHOUT_AUTHORITY, "/"},
        {"//", PATH_WITHOUT_AUTHORITY, "/"},
        {"/a//b/c", PATH_WITHOUT_AUTHORITY, "/a/c"},
        {"/a//b", PATH_WITHOUT_AUTHORITY, "/a/"},
        {"/a//", PATH_WITHOUT_AUTHORITY, "/a/"},
        {"//a:80/b//c/d", PATH_WITHOUT_AUTHORITY, "/b/c/d"},
        {"//a/../b", PATH_WITHOUT_AUTHORITY, NULL},
        {"//a%2fb/c", PATH_WITHOUT_AUTHORITY, "/c"},
        {"/a/b", PATH_WITHOUT_AUTHORITY, "/a/b"},
        {"/\\a/b", PATH_WITHOUT_AUTHORITY, "/\\a/b"},
        {"/\\a/b", PATH_WITHOUT_AUTHORITY | PATH_WITH_BACKSLASHES, "/b"},
        {"/%5c%5Ca\\b", PATH_WITHOUT_AUTHORITY | PATH_WITH_BACKSLASHES, "/b"},
        {"/;x/a/b", PATH_WITHOUT_AUTHORITY | PATH_WITHOUT_PARAMETERS, "/b"},
        {"/a;b%3bc\\d%5ce", PATH_LITERALLY, "/a;b;c\\d\\e"},
        {"/a;b%3bc\\d%5ce", PATH_LITERALLY | PATH_WITHOUT_PARAMETERS, "/a"},
        {"/a%3bb;c", PATH_LITERALLY | PATH_WITHOUT_PARAMETERS, "/a;b"},
        {"/a;b%3bc\\d%5ce", PATH_LITERALLY | PATH_WITH_BACKSLASHES,
         "/a;b;c/d\\e"},
        {"/;a%5cb\\c", PATH_LITERALLY | BOTH, "/c"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *path = read_as(cases[i].raw, cases[i].reading);

        if (!path != !cases[i].path || (path && strcmp(path, cases[i].path)))
            fail_msg("%s is %s to %u", cases[i].raw, path ? path : "refused",
                     cases[i].reading);
    }
}

TEST(only_some_bytes_are_ambiguous)
{
    static const char *const ambiguous[] = {"/;",    "/a\\", "/%3b",
                                            "/a%3B", "/%5c", "/%5Cb"};
    static const char *const plain[] = {"/",  "/a:b", "/%3a", "/%253b",
                                        "/%", "/%3",  "/a%5d"};

    for (size_t i = 0; i < sizeof(ambiguous) / sizeof(*ambiguous); i++)
        assert_true(path_is_ambiguous(bytes_of(ambiguous[i])));
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        assert_false(path_is_ambiguous(bytes_of(plain[i])));
}

TEST(only_what_may_differ_is_read_again)
{
    static const struct {
        const char *raw;
        unsigned readings;
    } cases[] = {
        {"/", 0},
        {"/a%2fb%", 0},
        {"/a//", PATH_WITHOUT_AUTHORITY},
        {"/;", PATH_WITHOUT_AUTHORITY | PATH_WITHOUT_PARAMETERS},
        {"/%3B", PATH_WITHOUT_AUTHORITY | PATH_WITHOUT_PARAMETERS},
        {"/\\\\", PATH_WITHOUT_AUTHORITY | PATH_WITH_BACKSLASHES},
        {"/%5c;", PATH_READINGS - 1},
        {"/;%3b",
         PATH_WITHOUT_AUTHORITY | PATH_WITHOUT_PARAMETERS | PATH_LITERALLY},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(path_find_readings(bytes_of(cases[i].raw)),
                         cases[i].readings);
}

/* Whether one of these readings comes to that path. */
static bool comes_to(const char *raw, unsigned readings, const char *expected)
{
    for (unsigned reading = 0; reading < PATH_READINGS; reading++) {
        const char *path = reading & ~readings ? NULL : read_as(raw, reading);

        if (path && strcmp(path, expected) == 0)
            return true;
    }
    return false;
}

TEST(no_path_is_missed)
{
    static const char *const pieces[] = {"/",  "a",   ";",  "%3b",
                                         "\\", "%5c", "%2e"};

    draw_seed = 6571;
    for (int round = 0; round < 10000; round++) {
        char raw[80] = "/";
        char expected[80];
        unsigned readings;

        for (unsigned i = draw(8); i > 0; i--)
            strncat(raw, pieces[draw(7)], sizeof(raw) - strlen(raw) - 1);
        readings = path_find_readings(bytes_of(raw));
        for (unsigned reading = 1; reading < PATH_READINGS; reading++) {
            const char *path = read_as(raw, reading);

            if (!path)
                continue;
            snprintf(expected, sizeof(expected), "%s", path);
            if (!comes_to(raw, readings, expected))
                fail_msg("%s to %u", raw, reading);
        }
    }
}

/* What is left out comes to the path of a combination that is not. */
TEST(the_next_readings_come_to_all_paths)
{
    static const char *const pieces[] = {"/", "a",   ";",   "%3b", "\\",
                                         "/", "%5c", "%2e", ".",   "/\\h/"};

    draw_seed = 6572;
    for (int round = 0; round < 3000; round++) {
        char raw[80] = "/";
        char paths[PATH_READINGS][80];
        bool is_next[PATH_READINGS] = {true};
        unsigned reading = 0, same;

        for (unsigned i = draw(10); i > 0; i--)
            strncat(raw, pieces[draw(10)], sizeof(raw) - strlen(raw) - 1);
        while ((reading = path_next_reading(PATH_READINGS - 1, reading)) != 0)
            is_next[reading] = true;
        for (reading = 0; reading < PATH_READINGS; reading++) {
            const char *path = read_as(raw, reading);

            snprintf(paths[reading], sizeof(paths[reading]), "%s",
                     path ? path : "");
        }
        for (reading = 0; reading < PATH_READINGS; reading++) {
            for (same = 0; same < PATH_READINGS; same++)
                if (is_next[same] && !(same & ~reading) &&
                    strcmp(paths[same], paths[reading]) == 0)
                    break;
            if (same == PATH_READINGS)
                fail_msg("%s to %u", raw, reading);
        }
    }
}

TEST(a_path_has_few_readings)
{
    static const struct {
        const char *raw;
        unsigned count;
    } cases[] = {
        {"/", 0},        {"//", 1},    {"/;", 3},
        {"/\\", 3},      {"/\\//", 4}, {"/;%3b", 5},
        {"/\\%5c//", 7}, {"/;\\", 11}, {"/;%5c", 21},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned found = path_find_readings(bytes_of(cases[i].raw));
        unsigned reading = 0, count = 0;

        while ((reading = path_next_reading(found, reading)) != 0) {
            assert_int_equal(reading & ~found, 0);
            count++;
        }
        if (count != cases[i].count)
            fail_msg("%s: %u", cases[i].raw, count);
    }
}

TEST(an_empty_segment_may_be_before_an_authority)
{
    assert_true(path_may_have_authority(bytes_of("//a")));
    assert_true(path_may_have_authority(bytes_of("/a//")));
    assert_false(path_may_have_authority(bytes_of("/")));
    assert_false(path_may_have_authority(bytes_of("/a/b/")));
}

TEST(an_ambiguous_byte_is_seen_wherever_it_stands)
{
    static const char escapes[][4] = {"%3b", "%3B", "%5c", "%5C", "%3a"};
    char raw[30];

    for (size_t len = 2; len <= sizeof(raw); len++)
        for (size_t at = 1; at < len; at++) {
            memset(raw, 'a', sizeof(raw));
            for (int byte = 0; byte < 256; byte++) {
                raw[at] = (char)byte;
                assert_int_equal(path_is_ambiguous((struct bytes){raw, len}),
                                 byte == ';' || byte == '\\');
            }
            for (size_t i = 0; i < 5 && at + 3 <= len; i++) {
                memcpy(raw + at, escapes[i], 3);
                assert_int_equal(path_is_ambiguous((struct bytes){raw, len}),
                                 i < 4);
            }
        }
}

/* What is not ambiguous is the same in every reading. */
TEST(random_paths_agree_where_they_must)
{
    static const char *const pieces[] = {"/",   "/",   ".",  "a",   "%2e",
                                         "%41", ";",   "\\", "%3b", "%5C",
                                         "%2f", "%00", "%"};
    unsigned plain = 0;

    draw_seed = 6570;
    for (int round = 0; round < 100000; round++) {
        char raw[80] = "/";
        char expected[80];
        const char *usual;

        for (unsigned i = draw(12); i > 0; i--)
            strncat(raw, pieces[draw(draw(4) ? 6 : 13)],
                    sizeof(raw) - strlen(raw) - 1);
        usual = read_as(raw, 0);
        snprintf(expected, sizeof(expected), "%s", usual ? usual : "");
        if (path_is_ambiguous(bytes_of(raw)) ||
            path_may_have_authority(bytes_of(raw)))
            continue;
        plain++;
        for (unsigned reading = 1; reading < PATH_READINGS; reading++) {
            const char *path = read_as(raw, reading);

            if (!path != !usual || (path && strcmp(path, expected)))
                fail_msg("%s to %u", raw, reading);
        }
    }
    assert_true(plain > 20000);
}
