#include "http/path.h"

#include "suite.h"
#include "unit/draw.h"

enum { RAW_MAX = 64 };

/* Where clean came from, whether it is hidden, and its text; a copy of the
 * exact size goes in and room of the exact size takes what comes out. */
struct result {
    bool is_clean;
    bool is_borrowed;
    bool is_hidden;
    size_t len;
    char text[1024];
};

static struct result clean(struct bytes raw)
{
    char *copy = malloc(raw.len + 1);
    char *out = malloc(raw.len + 1);
    struct path path;
    struct result result = {0};

    memcpy(copy + 1, raw.data, raw.len);
    result.is_clean = path_clean((struct bytes){copy + 1, raw.len}, out + 1,
                                 &path);
    if (result.is_clean) {
        result.is_borrowed = path.clean.data == copy + 1;
        assert_true(result.is_borrowed || path.clean.data == out + 1);
        assert_in_range(path.clean.len, 1, raw.len);
        assert_null(memchr(path.clean.data, '\0', path.clean.len));
        result.is_hidden = path.is_hidden;
        result.len = path.clean.len;
        memcpy(result.text, path.clean.data, path.clean.len);
    }
    free(copy);
    free(out);
    return result;
}

TEST(the_usual_path_is_borrowed)
{
    static const char *const cases[] = {
        "/",
        "/index.html",
        "/a/b/c/d.tar.gz",
        "/a/",
        "/a/b/",
        "/a.",
        "/a./b../c...",
        "/a..b/c",
        "/-/_/~/!$&'()*+,;=:@",
        "/\xc3\xa9t\xc3\xa9", /* no client sends it so, but a name it is */
        "/a\\..\\b",
        "/a?b",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct result result = clean(bytes_of(cases[i]));

        assert_true(result.is_clean);
        assert_true(result.is_borrowed);
        assert_false(result.is_hidden);
        assert_string_equal(result.text, cases[i]);
    }
}

static bool is_borrowed(const char *raw, size_t len)
{
    return clean((struct bytes){raw, len}).is_borrowed;
}

TEST(what_is_odd_is_seen_wherever_it_stands)
{
    char raw[40];

    for (size_t len = 2; len <= sizeof(raw); len++)
        for (size_t at = 1; at < len; at++) {
            bool is_first = at == 1;

            memset(raw, 'a', sizeof(raw));
            raw[0] = '/';
            for (int byte = 0; byte < 256; byte++) {
                bool is_odd = byte == '\0' || byte == '%' ||
                              (is_first && (byte == '/' || byte == '.'));

                raw[at] = (char)byte;
                if (is_borrowed(raw, len) == is_odd)
                    fail_msg("%d at %zu of %zu", byte, at, len);
            }
            raw[at] = 'a';
            if (at + 1 == len)
                continue;
            memcpy(raw + at, "//", 2);
            assert_false(is_borrowed(raw, len));
            memcpy(raw + at, "/.", 2);
            assert_false(is_borrowed(raw, len));
            memcpy(raw + at, "./", 2);
            assert_int_equal(is_borrowed(raw, len), !is_first);
            memcpy(raw + at, "..", 2);
            assert_int_equal(is_borrowed(raw, len), !is_first);
        }
}

TEST(escapes_dots_and_slashes_are_cleaned)
{
    static const char *const cases[][2] = {
        /* Escapes. */
        {"/%61", "/a"},
        {"/a%20b", "/a b"},
        {"/%C3%A9t%c3%a9", "/\xc3\xa9t\xc3\xa9"},
        {"/%E2%82%AC.html", "/\xe2\x82\xac.html"},
        {"/%ff%fe", "/\xff\xfe"},
        {"/%01%0d%0a%7f", "/\x01\r\n\x7f"},
        {"/a%3Fb%23c", "/a?b#c"},
        {"/%5C..%5cb", "/\\..\\b"},
        {"/100%25", "/100%"},
        /* Decoded once only. */
        {"/%252e%252e", "/%2e%2e"},
        {"/%252F", "/%2F"},
        {"/%2500", "/%00"},
        {"/%25%32%65", "/%2e"},
        /* Overlong UTF-8 is no dot and no slash. */
        {"/%c0%ae%c0%ae", "/\xc0\xae\xc0\xae"},
        {"/..%c0%af", "/..\xc0\xaf"},
        /* Runs of slashes. */
        {"//", "/"},
        {"///", "/"},
        {"//a", "/a"},
        {"/a//", "/a/"},
        {"/a//b///c", "/a/b/c"},
        {"//example.com/", "/example.com/"},
        /* Dot segments. */
        {"/.", "/"},
        {"/./", "/"},
        {"/./a", "/a"},
        {"/a/.", "/a/"},
        {"/a/./", "/a/"},
        {"/a/./b", "/a/b"},
        {"/a/..", "/"},
        {"/a/../", "/"},
        {"/a/../b", "/b"},
        {"/a/b/..", "/a/"},
        {"/a/b/../", "/a/"},
        {"/a/b/../..", "/"},
        {"/a/b/../../c", "/c"},
        {"/a/b/c/./../../g", "/a/g"}, /* RFC 3986 5.2.4 */
        {"/mid/content=5/../6", "/mid/6"},
        {"/./././", "/"},
        {"/a/..//b", "/b"},
        {"/a//../b", "/b"},
        {"/a//b//../c", "/a/c"},
        {"/a/.//../b", "/b"},
        /* Encoded ones. */
        {"/%2e", "/"},
        {"/a/%2E/b", "/a/b"},
        {"/a/%2e%2e", "/"},
        {"/a/.%2e/b", "/b"},
        {"/a/%2E./b", "/b"},
        {"/a%2eb", "/a.b"},
        /* No dot segments. */
        {"/a/.../b", "/a/.../b"},
        {"/a/..b", "/a/..b"},
        {"/a/.b", "/a/.b"},
        {"/a/b./.c", "/a/b./.c"},
        {"/a/..%20/b", "/a/.. /b"},
        {"/..;/a", "/..;/a"},
        {"/....//a", "/..../a"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct result result = clean(bytes_of(cases[i][0]));

        if (result.is_borrowed || strcmp(result.text, cases[i][1]))
            fail_msg("%s is %s", cases[i][0],
                     result.is_clean ? result.text : "refused");
    }
}

TEST(what_climbs_above_the_root_is_refused)
{
    static const char *const cases[] = {
        "/..",
        "/../",
        "/../etc/passwd",
        "/a/../..",
        "/a/../../b",
        "/a/../../a/b",
        "/./..",
        "//..",
        "/a//../..",
        "/%2e%2e",
        "/%2E%2E/etc/passwd",
        "/.%2e/.%2e/etc/passwd",
        "/%2e./",
        "/a/%2e%2e/%2e%2e/b",
        "/../../../../../../etc/passwd",
        "/..//..//..//etc/passwd",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (clean(bytes_of(cases[i])).is_clean)
            fail_msg("taken: %s", cases[i]);
}

TEST(what_two_readers_may_read_differently_is_refused)
{
    static const char *const cases[] = {
        /* Slashes. */
        "/%2f",
        "/%2F",
        "/a%2fb",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e%2f",
        /* NUL. */
        "/%00",
        "/a%00.html",
        "/a/%00/../b",
        /* Broken escapes. */
        "/%",
        "/%2",
        "/a%",
        "/a%4",
        "/%/a",
        "/%4/a",
        "/%zz",
        "/%0g",
        "/%g0",
        "/%1g",
        "/%%41",
        "/%4%31",
        "/% 41",
        "/%+1",
        "/%0x41",
        "/%u002e",
        "/%\xff\xff",
        "/a/../%zz",
        "/%zz/../a",
        /* No path. */
        "",
        "*",
        "a",
        "a/b",
        "http://a/",
        "%2fa",
        ".",
        "..",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (clean(bytes_of(cases[i])).is_clean)
            fail_msg("taken: %s", cases[i]);
}

TEST(what_is_refused_is_told)
{
    static const struct {
        const char *raw;
        enum reason fault;
    } cases[] = {
        {"/a%2Fb", REASON_ENCODED_SLASH},  {"/%2f", REASON_ENCODED_SLASH},
        {"/a%00", REASON_ENCODED_NUL},     {"/../a", REASON_ABOVE_ROOT},
        {"/a/%2e./..", REASON_ABOVE_ROOT}, {"/a%", REASON_TARGET_BYTES},
        {"a", REASON_TARGET_FORM},         {"", REASON_TARGET_FORM}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char out[20];
        struct path path;

        assert_false(path_clean(bytes_of(cases[i].raw), out, &path));
        assert_int_equal(path.fault, cases[i].fault);
    }
}

TEST(an_encoded_slash_can_be_read_in_two_ways)
{
    static const struct {
        const char *raw;
        const char *as_slash; /* NULL: refused */
        const char *as_letter;
    } cases[] = {{"/a%2Fb", "/a/b", "/a!b"},
                 {"/%2fa%2F", "/a/", "/!a!"},
                 {"/a%2f..%2fb/", "/b/", "/a!..!b/"},
                 {"/..%2fa", NULL, "/..!a"},
                 {"/a/..%2f../b", NULL, "/a/..!../b"},
                 {"/%252f%41", "/%2fA", "/%2fA"},
                 {"/a", "/a", "/a"},
                 {"/a%2F%00", NULL, NULL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes raw = bytes_of(cases[i].raw);
        char *out = malloc(raw.len); /* of the exact size */
        const char *expected = cases[i].as_slash;

        for (int way = 0; way < 2; way++, expected = cases[i].as_letter) {
            struct path path;
            struct bytes text = path_replace_slashes(raw, way == 0 ? '/' : '!',
                                                     out);
            bool is_clean = path_clean(text, out, &path);

            assert_int_equal(is_clean, expected != NULL);
            if (!expected)
                continue;
            if (!bytes_eq(path.clean, bytes_of(expected)))
                fail_msg("%s: %.*s", cases[i].raw, (int)path.clean.len,
                         path.clean.data);
        }
        free(out);
    }
}

TEST(a_bare_nul_is_refused)
{
    assert_false(clean(BYTES("/a\0b")).is_clean);
    assert_false(clean(BYTES("/a/\0")).is_clean);
    assert_false(clean(BYTES("/%61\0")).is_clean);
}

TEST(segments_with_a_leading_dot_are_hidden)
{
    static const struct {
        const char *raw;
        bool is_hidden;
    } cases[] = {
        {"/.git", true},
        {"/.git/", true},
        {"/.git/config", true},
        {"/a/.htaccess", true},
        {"/%2egit/config", true},
        {"/.%67it", true},
        {"/...", true},
        {"/..a", true},
        {"//.env", true},
        {"/.well-known/../.git", true},
        {"/.well-known/.git", true},
        {"/.well-known", false},
        {"/.well-known/", false},
        {"/.well-known/security.txt", false},
        {"/%2Ewell-known/acme-challenge/x", false},
        {"/a/.well-known/x", false},
        {"/.well-knowns", true},
        {"/.well-know", true},
        {"/.Well-Known/x", true},
        {"/.well-known%20/x", true},
        /* What ".." takes away hides nothing. */
        {"/.git/../a", false},
        {"/./a", false},
        {"/a/..", false},
        {"/a.b/c.", false},
        {"/%61", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct result result = clean(bytes_of(cases[i].raw));

        if (!result.is_clean || result.is_hidden != cases[i].is_hidden)
            fail_msg("%s is %shidden", cases[i].raw,
                     result.is_hidden ? "" : "not ");
    }
}

/* --- Encoding ----------------------------------------------------------- */

static size_t encode(struct bytes path, char *text)
{
    char *out = malloc(3 * path.len + 1);
    size_t len = path_encode(path, out);

    assert_true(len <= 3 * path.len);
    memcpy(text, out, len);
    text[len] = '\0';
    free(out);
    return len;
}

TEST(unsafe_bytes_are_encoded)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"/", "/"},
        {"/abcdefghijklmnopqrstuvwxyz", "/abcdefghijklmnopqrstuvwxyz"},
        {"/ABCDEFGHIJKLMNOPQRSTUVWXYZ", "/ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
        {"/0123456789.html", "/0123456789.html"},
        {"/-._~!$()*+,;=", "/-._~!$()*+,;="},
        {"/a b", "/a%20b"},
        {"/&'\"<>", "/%26%27%22%3C%3E"},
        {"/?#%:@", "/%3F%23%25%3A%40"},
        {"/[]{}|\\^`", "/%5B%5D%7B%7D%7C%5C%5E%60"},
        {"/\x01\r\n\t\x7f", "/%01%0D%0A%09%7F"},
        {"/\xc3\xa9\xff", "/%C3%A9%FF"},
    };
    char text[128];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        encode(bytes_of(cases[i][0]), text);
        assert_string_equal(text, cases[i][1]);
    }
}

TEST(a_value_cannot_end_where_it_stands)
{
    static const char *const cases[][2] = {
        {"aZ09-._~/", "aZ09-._~/"},
        {"a&b=c+d", "a%26b%3Dc%2Bd"},
        {"#?;%", "%23%3F%3B%25"},
        {"\r\n \x7F\xC3", "%0D%0A%20%7F%C3"},
        {"$!'()*,:@\"\\", "%24%21%27%28%29%2A%2C%3A%40%22%5C"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char out[100];
        size_t len = path_encode_value(bytes_of(cases[i][0]), out);

        out[len] = '\0';
        assert_string_equal(out, cases[i][1]);
    }
}

TEST(a_query_leads_elsewhere_as_it_was_sent)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"q=100%&x=%zz&y=%20", "q=100%&x=%zz&y=%20"},
        {"!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~",
         "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"},
        {"#", "%23"},
        {"a#b##c", "a%23b%23%23c"},
        {"caf\xC3\xA9", "caf%C3%A9"},
        {"\x80\xFFz", "%80%FFz"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char storage[100];
        struct buf out;

        buf_init(&out, storage, sizeof(storage), sizeof(storage));
        path_put_query(bytes_of(cases[i][0]), &out);
        assert_true(bytes_eq(buf_bytes(&out), bytes_of(cases[i][1])));
    }
}

TEST(every_byte_comes_back)
{
    for (int byte = 1; byte < 256; byte++) {
        char path[] = {'/', 'x', (char)byte};
        char text[16];
        struct result result;

        if (byte == '/')
            continue;
        encode((struct bytes){path, 3}, text);
        result = clean(bytes_of(text));
        assert_true(result.is_clean);
        assert_int_equal(result.len, 3);
        assert_memory_equal(result.text, path, 3);
    }
    assert_int_equal(path_encode((struct bytes){"\0", 1}, (char[3]){0}), 3);
}

/* --- A random run ------------------------------------------------------- */

/* The model: split at slashes, decode each piece, keep a stack of names. */
static bool clean_naively(const char *raw, char *out)
{
    char names[RAW_MAX][RAW_MAX];
    int depth = 0;
    bool is_directory = true;

    while (*raw == '/') {
        char name[RAW_MAX] = "";
        size_t len = strcspn(++raw, "/");
        size_t used = 0;

        for (size_t i = 0; i < len; i++, used++) {
            char digits[3] = {0};
            unsigned long value;

            name[used] = raw[i];
            if (raw[i] != '%')
                continue;
            if (i + 2 >= len ||
                strspn(raw + i + 1, "0123456789abcdefABCDEF") < 2)
                return false;
            memcpy(digits, raw + i + 1, 2);
            value = strtoul(digits, NULL, 16);
            if (value == 0 || value == '/')
                return false;
            name[used] = (char)value;
            i += 2;
        }
        raw += len;
        is_directory = used == 0 || !strcmp(name, ".") || !strcmp(name, "..");
        if (!is_directory)
            memcpy(names[depth++], name, sizeof(name));
        if (!strcmp(name, "..") && --depth < 0)
            return false;
    }
    *out = '\0';
    for (int i = 0; i < depth; i++)
        out += snprintf(out, sizeof(names[i]) + 1, "/%s", names[i]);
    if (is_directory)
        memcpy(out, "/", 2);
    return true;
}

TEST(random_paths_agree_with_a_naive_model)
{
    static const char *const pieces[] = {"/",   "/",   "/",   ".",   "..",
                                         "a",   "b.",  "%2e", "%2E", "%41",
                                         "%25", "%2f", "%00", "%",   "%4"};
    unsigned taken = 0;

    draw_seed = 3986;
    for (int round = 0; round < 200000; round++) {
        char raw[RAW_MAX] = "/";
        char expected[2 * RAW_MAX];
        unsigned count = draw(12);
        struct result result;
        bool is_clean;

        /* The last five are rare: few paths would be left. */
        for (unsigned i = 0; i < count; i++)
            strncat(raw, pieces[draw(draw(8) ? 10 : 15)],
                    sizeof(raw) - strlen(raw) - 1);
        is_clean = clean_naively(raw, expected);
        result = clean(bytes_of(raw));
        if (result.is_clean != is_clean ||
            (is_clean && strcmp(result.text, expected)))
            fail_msg("%s is %s, not %s", raw,
                     result.is_clean ? result.text : "refused",
                     is_clean ? expected : "refused");
        taken += is_clean;
    }
    assert_true(taken > 50000);
}

TEST(a_prefix_leads_to_itself_and_what_is_below)
{
    static const struct {
        const char *prefix, *path;
        bool leads;
    } cases[] = {{"/a", "/a", true},    {"/a", "/a/", true},
                 {"/a", "/a/b", true},  {"/a", "/ab", false},
                 {"/a", "/", false},    {"/a", "/b/a", false},
                 {"/a/b", "/a", false}, {"/a/b", "/a/b/c", true},
                 {"/a", "/A", false},   {"", "/a", true},
                 {"", "/", true},       {"/a", "", false},
                 {"/a", "/a?b", false}, {"/a", "/a%2Fb", false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (path_leads(bytes_of(cases[i].prefix), bytes_of(cases[i].path)) !=
            cases[i].leads)
            fail_msg("'%s' to '%s'", cases[i].prefix, cases[i].path);
}
