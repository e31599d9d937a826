#include "cache/cache_vary.h"

#include "suite.h"

enum { FIELDS_MAX = 8 };

/* A request of "name: value" lines. */
static void read_request(struct request *request, struct field *fields,
                         const char *const *lines)
{
    *request = (struct request){.fields = fields};
    for (; lines[request->field_count]; request->field_count++) {
        struct bytes line = bytes_of(lines[request->field_count]);
        const char *colon = memchr(line.data, ':', line.len);
        struct bytes name = bytes_between(line.data, colon);

        fields[request->field_count] = (struct field){
            .name = name,
            .value = bytes_trim(bytes_between(colon + 1, line.data + line.len)),
            .id = field_identify(name)};
    }
}

static const struct pair {
    const char *names;
    const char *one[FIELDS_MAX];
    const char *other[FIELDS_MAX];
    bool are_same;
} pairs[] = {
    {"foo", {"Foo: 1"}, {"foo: 1"}, true},
    {"foo", {"Foo: 1"}, {"Foo: 2"}, false},
    {"foo", {"Foo: 1"}, {NULL}, false},
    {"foo", {"Foo:"}, {NULL}, false},
    {"foo", {"Foo: 1,2"}, {"Foo: 1, 2 "}, true},
    {"foo", {"Foo: 1", "Foo: 2"}, {"Foo: 1, 2"}, true},
    {"foo", {"Foo: 1, 2"}, {"Foo: 2, 1"}, false},
    {"foo", {"Foo: \"a, b\""}, {"Foo: \"a,b\""}, false},
    {"foo,bar", {"Foo: 1", "Bar: 2"}, {"Bar: 2", "Foo: 1"}, true},
    {"foo,bar", {"Foo: 1"}, {"Bar: 1"}, false},
    {"accept-encoding",
     {"Accept-Encoding: gzip, br"},
     {"accept-encoding: BR;q=0.5,gzip"},
     true},
    {"accept-encoding",
     {"Accept-Encoding: gzip"},
     {"Accept-Encoding: gzip;q=0"},
     false},
    {"accept-encoding", {"Accept-Encoding:"}, {NULL}, false},
    {"accept-encoding", {"Accept-Encoding: gzip"}, {NULL}, false},
    {"accept-language",
     {"Accept-Language: en, de"},
     {"Accept-Language:  DE ,en"},
     true},
    {"accept-language",
     {"Accept-Language: en, de;q=0.5"},
     {"Accept-Language: en;q=0.5, de"},
     false},
    /* The origin gets them as they came, and may well find something there. */
    {"accept-encoding",
     {"Accept-Encoding: gzip;br"},
     {"Accept-Encoding: gzip"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: identity; gzip"},
     {"Accept-Encoding: identity"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q=2"},
     {"Accept-Encoding: gzip;q=1"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q=1.5"},
     {"Accept-Encoding: gzip"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q=0.0001"},
     {"Accept-Encoding: gzip;q=0.000"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q=0x"},
     {"Accept-Encoding: gzip;q=0"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip br"},
     {"Accept-Encoding: gzip"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q="},
     {"Accept-Encoding: gzip"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;q=1;a"},
     {"Accept-Encoding: gzip"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip ; q=0.500"},
     {"Accept-Encoding: gzip;Q=0.5"},
     true},
    {"accept-language",
     {"Accept-Language: en;de"},
     {"Accept-Language: en"},
     false},
    /* What goes in as it came is never taken for what is written in short. */
    {"accept-language",
     {"Accept-Language: en-us,en;500,"},
     {"Accept-Language: en-US,en;q=0.5"},
     false},
    {"accept-encoding",
     {"Accept-Encoding: gzip;500,"},
     {"Accept-Encoding: gzip;q=0.5"},
     false},
};

TEST(what_selects_an_answer_is_normalised)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct field fields[2][FIELDS_MAX];
        struct request one, other;
        struct buf a, b;

        read_request(&one, fields[0], pairs[i].one);
        read_request(&other, fields[1], pairs[i].other);
        buf_init(&a, NULL, 0, 4096);
        buf_init(&b, NULL, 0, 4096);
        assert_true(cache_vary_put(bytes_of(pairs[i].names), &one, &a));
        assert_true(cache_vary_put(bytes_of(pairs[i].names), &other, &b));
        if (bytes_eq(buf_bytes(&a), buf_bytes(&b)) != pairs[i].are_same)
            fail_msg("pair %zu: '%.*s' and '%.*s'", i, (int)a.len, a.data,
                     (int)b.len, b.data);
        buf_fini(&a);
        buf_fini(&b);
    }
}

/* An origin that makes '_' of '-' takes both for one, and answers for all who
 * have the one. */
TEST(a_field_beside_one_that_is_taken_for_it_selects_nothing)
{
    static const struct {
        const char *names;
        const char *lines[FIELDS_MAX];
        bool selects;
    } cases[] = {
        {"accept-language",
         {"Accept-Language: en", "Accept_Language: de"},
         false},
        {"accept-language", {"accept_language: de"}, false},
        {"foo,x-a", {"Foo: 1", "X.A: 1"}, false},
        {"x_a", {"X-A: 1"}, false},
        {"x_a", {"X_A: 1"}, true},
        {"foo", {"Foo: 1", "X_A: 1", "Fo_: 1"}, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct field fields[FIELDS_MAX];
        struct request request;
        struct buf out;

        read_request(&request, fields, cases[i].lines);
        buf_init(&out, NULL, 0, 4096);
        if (cache_vary_put(bytes_of(cases[i].names), &request, &out) !=
            cases[i].selects)
            fail_msg("case %zu", i);
        buf_fini(&out);
    }
}

TEST(languages_go_on_as_their_key_has_them_written_as_tags_are)
{
    static const struct {
        const char *lines[FIELDS_MAX];
        const char *wanted; /* NULL: as they came */
    } cases[] = {
        {{"Accept-Language: en-US,en;q=0.9,de;q=0.8"},
         "en-US,en;q=0.9,de;q=0.8"},
        {{"Accept-Language: en;q=0.9,DE-de"}, "de-DE,en;q=0.9"},
        {{"Accept-Language: EN ; q=0.050",
          "accept-language: zh-hANT-tw, *;q=0"},
         "zh-Hant-TW,en;q=0.05,*;q=0"},
        {{"Accept-Language: en-a-bb-cccc-x-dd, a-de"},
         "a-de,en-a-bb-cccc-x-dd"},
        {{"Accept-Language: en;q=1.000"}, "en"},
        {{"Accept-Language: en-, -de, -"}, "-,-DE,en-"},
        {{"Accept-Language: en;level=1"}, NULL},
        {{"Accept-Language: e n"}, NULL},
        {{"Accept-Language:"}, NULL},
        {{"Accept: a"}, NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct field fields[FIELDS_MAX];
        struct request request;
        struct buf out;
        bool is_put;

        read_request(&request, fields, cases[i].lines);
        buf_init(&out, NULL, 0, 4096);
        is_put = cache_vary_put_languages(&request, &out);
        assert_int_equal(is_put, cases[i].wanted != NULL);
        if (is_put && !bytes_eq(buf_bytes(&out), bytes_of(cases[i].wanted)))
            fail_msg("case %zu: '%.*s'", i, (int)out.len, out.data);
        buf_fini(&out);
    }
}

static bool names_are(const char *lines, const char *wanted)
{
    struct buf names;
    bool is_so;

    buf_init(&names, NULL, 0, 4096);
    is_so = cache_vary_names(bytes_of(lines), &names) == (wanted != NULL) &&
            (!wanted || bytes_eq(buf_bytes(&names), bytes_of(wanted)));
    buf_fini(&names);
    return is_so;
}

TEST(names_are_gathered_of_all_lines_once_each)
{
    struct buf many;

    assert_true(names_are("A: b\r\n", ""));
    assert_true(names_are("Vary: Foo, bar\r\nA: b\r\nvary: foo , BAZ\r\n",
                          "foo,bar,baz"));
    assert_true(names_are("Vary: a, *\r\n", NULL));
    assert_true(names_are("Vary: , *\r\n", NULL));
    assert_true(names_are("Vary: a, x-forwarded-for\r\n", NULL));
    assert_true(names_are("Vary: Forwarded\r\n", NULL));
    assert_true(names_are("Vary: X-Request-ID\r\n", NULL));
    assert_true(names_are("Vary: X-Real-Ip\r\n", NULL));
    assert_true(names_are("Vary: surrogate-capability, a\r\n", "a"));
    assert_true(names_are("Vary: X-Forwarded-Proto\r\n", "x-forwarded-proto"));
    assert_true(names_are("Content-Encoding: gzip\r\n", ""));
    assert_true(names_are("Content-Encoding: DCZ\r\nVary: A\r\n",
                          "a,available-dictionary"));
    assert_true(names_are("Vary: available-dictionary\r\n"
                          "Content-Encoding: gzip, dcb\r\n",
                          "available-dictionary"));
    buf_init(&many, NULL, 0, 4096);
    buf_put_literal(&many, "Vary: ");
    for (int i = 0; i <= CACHE_VARY_NAMES_MAX; i++)
        buf_printf(&many, "x%d,", i);
    buf_put(&many, (struct bytes){"\r\n", 3});
    assert_true(names_are(many.data, NULL));
    buf_fini(&many);
}

TEST(values_that_are_too_long_select_nothing)
{
    static char value[CACHE_VARIANT_BYTES_MAX + 1];
    struct field field = {.name = BYTES("foo"),
                          .value = {value, sizeof(value)}};
    struct request request = {.fields = &field, .field_count = 1};
    struct buf out;

    memset(value, 'x', sizeof(value));
    buf_init(&out, NULL, 0, 65536);
    assert_false(cache_vary_put(BYTES("foo"), &request, &out));
    out.len = 0;
    field.value.len = 1000;
    assert_true(cache_vary_put(BYTES("foo"), &request, &out));
    buf_fini(&out);
}
