#include "http/range.h"

#include <regex.h>

#include "suite.h"
#include "unit/draw.h"

static struct range ranges[RANGE_COUNT_MAX];
static size_t count;

/* What range_parse() made of value: "0-4 7-9", "416" or "ignore". The byte
 * behind the value would change it. */
static const char *parse(const char *value, uint64_t length)
{
    static char text[1024];
    char copy[1024];
    size_t len = (size_t)snprintf(copy, sizeof(copy), "%s9", value);
    struct bytes exact = {copy, len - 1};

    len = 0;
    switch (range_parse(exact, length, ranges, &count)) {
    case RANGE_IGNORE:
        return "ignore";
    case RANGE_UNSATISFIABLE:
        return "416";
    case RANGE_PARTIAL:
        break;
    }
    assert_in_range(count, 1, RANGE_COUNT_MAX);
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%ju-%ju",
                                i > 0 ? " " : "", (uintmax_t)ranges[i].first,
                                (uintmax_t)ranges[i].last);
    return text;
}

struct parse_case {
    const char *value;
    uint64_t length;
    const char *result;
};

static void check(const struct parse_case *cases, size_t case_count)
{
    for (size_t i = 0; i < case_count; i++)
        if (strcmp(parse(cases[i].value, cases[i].length), cases[i].result))
            fail_msg("'%s' of %ju: %s, not %s", cases[i].value,
                     (uintmax_t)cases[i].length,
                     parse(cases[i].value, cases[i].length), cases[i].result);
}

#define CHECK(cases) check((cases), sizeof(cases) / sizeof(*(cases)))

TEST(a_single_range_is_taken)
{
    static const struct parse_case cases[] = {
        {"bytes=0-499", 10000, "0-499"},
        {"bytes=500-999", 10000, "500-999"},
        {"bytes=-500", 10000, "9500-9999"},
        {"bytes=9500-", 10000, "9500-9999"},
        {"bytes=0-0", 10000, "0-0"},
        {"bytes=-1", 10000, "9999-9999"},
        {"bytes=0-", 10000, "0-9999"},
        {"bytes=9999-9999", 10000, "9999-9999"},
        {"bytes=0-0", 1, "0-0"},
        {"bytes=-1", 1, "0-0"},
        {"bytes=000-0004", 10, "0-4"},
        {"bytes=-0005", 10, "5-9"},
        {"BYTES=0-4", 10, "0-4"},
        {"Bytes=0-4", 10, "0-4"},
    };

    CHECK(cases);
}

TEST(what_lies_beyond_the_end_is_cut_off)
{
    static const struct parse_case cases[] = {
        {"bytes=0-9", 10, "0-9"},
        {"bytes=0-10", 10, "0-9"},
        {"bytes=5-99", 10, "5-9"},
        {"bytes=-10", 10, "0-9"},
        {"bytes=-11", 10, "0-9"},
        {"bytes=9-18446744073709551614", 10, "9-9"},
        {"bytes=9-18446744073709551615", 10, "9-9"},
        {"bytes=9-18446744073709551616", 10, "9-9"},
        {"bytes=9-99999999999999999999999999999999999999999", 10, "9-9"},
        {"bytes=-18446744073709551616", 10, "0-9"},
        {"bytes=-99999999999999999999999999999999999999999", 10, "0-9"},
        {"bytes=18446744073709551613-", UINT64_MAX,
         "18446744073709551613-18446744073709551614"},
        {"bytes=-18446744073709551615", UINT64_MAX, "0-18446744073709551614"},
        {"bytes=0-,0-,18446744073709551614-", UINT64_MAX,
         "0-18446744073709551614"},
    };

    CHECK(cases);
}

TEST(nothing_of_the_representation_is_unsatisfiable)
{
    static const struct parse_case cases[] = {
        {"bytes=10-", 10, "416"},
        {"bytes=10-10", 10, "416"},
        {"bytes=10-20,30-", 10, "416"},
        {"bytes=-0", 10, "416"},
        {"bytes=-000", 10, "416"},
        {"bytes=-0,10-", 10, "416"},
        {"bytes=18446744073709551615-", 10, "416"},
        {"bytes=18446744073709551615-", UINT64_MAX, "416"},
        /* A first-pos that no number of ours can hold. */
        {"bytes=18446744073709551616-", 10, "416"},
        {"bytes=18446744073709551616-", UINT64_MAX, "416"},
        {"bytes=18446744073709551616-18446744073709551617", 10, "416"},
        {"bytes=0-", 0, "416"},
        {"bytes=0-0", 0, "416"},
        {"bytes=-0", 0, "416"},
    };

    CHECK(cases);
}

TEST(unsatisfiable_ranges_beside_others_are_left_out)
{
    static const struct parse_case cases[] = {
        {"bytes=10-,0-1", 10, "0-1"},
        {"bytes=0-1,99999999999999999999999999999999999999999-", 10, "0-1"},
        {"bytes=0-1,-0", 10, "0-1"},
        {"bytes=0-1,10-20,4-5,-0", 10, "0-1 4-5"},
    };

    CHECK(cases);
}

TEST(the_end_of_an_empty_representation_is_all_of_it)
{
    static const struct parse_case cases[] = {
        {"bytes=-1", 0, "ignore"},
        {"bytes=-18446744073709551616", 0, "ignore"},
        {"bytes=0-,-1", 0, "ignore"},
        {"bytes=-1,0-", 0, "ignore"},
    };

    CHECK(cases);
}

TEST(several_ranges_keep_the_order_they_were_asked_in)
{
    static const struct parse_case cases[] = {
        {"bytes=0-0,-1", 10, "0-0 9-9"},
        {"bytes=-1,0-0", 10, "9-9 0-0"},
        {"bytes=6-6,2-2,8-8,0-0", 10, "6-6 2-2 8-8 0-0"},
    };

    CHECK(cases);
}

TEST(ranges_that_touch_are_joined_where_the_first_was_asked)
{
    static const struct parse_case cases[] = {
        {"bytes=0-4,4-8", 10, "0-8"},
        {"bytes=0-4,5-8", 10, "0-8"},
        {"bytes=5-8,0-4", 10, "0-8"},
        {"bytes=0-4,6-8", 10, "0-4 6-8"},
        {"bytes=0-9,3-4", 10, "0-9"},
        {"bytes=3-4,0-9", 10, "0-9"},
        {"bytes=1-2,1-2,1-2", 10, "1-2"},
        {"bytes=8-9,0-1,4-5,2-3", 10, "8-9 0-5"},
        {"bytes=0-0,2-2,4-4,6-6,1-5", 10, "0-6"},
        {"bytes=9-9,0-0,2-2,4-4,1-3,6-6", 10, "9-9 0-4 6-6"},
        {"bytes=6-6,2-2,0-0,1-1", 10, "6-6 0-2"},
        {"bytes=500-600,601-999", 10000, "500-999"},
        {"bytes=500-700,601-999", 10000, "500-999"},
        {"bytes=0-,-5", 10, "0-9"},
    };

    CHECK(cases);
}

TEST(white_space_and_empty_members_are_those_of_lists)
{
    static const struct parse_case cases[] = {
        {"bytes=0-0,2-2", 10, "0-0 2-2"},
        {"bytes=0-0, 2-2", 10, "0-0 2-2"},
        {"bytes=0-0 ,\t2-2", 10, "0-0 2-2"},
        {"bytes=0-0 \t , \t 2-2", 10, "0-0 2-2"},
        {"bytes=,0-0", 10, "0-0"},
        {"bytes=0-0,", 10, "0-0"},
        {"bytes=0-0, ,,\t, 2-2,,", 10, "0-0 2-2"},
        {"bytes= ,0-0", 10, "0-0"},
        {"bytes= 0-0", 10, "ignore"},
        {"bytes=0-0 2-2", 10, "ignore"},
        {"bytes=0 -0", 10, "ignore"},
        {"bytes=0- 0", 10, "ignore"},
        {"bytes=- 1", 10, "ignore"},
        {"bytes=0-0\r\n,2-2", 10, "ignore"},
        {"bytes=0-0,\v2-2", 10, "ignore"},
    };

    CHECK(cases);
}

TEST(what_is_no_set_of_byte_ranges_is_ignored)
{
    static const char *const cases[] = {
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes= , ,",
        "bytes 0-4",
        "bytes =0-4",
        " bytes=0-4",
        "byte=0-4",
        "bytesx=0-4",
        "items=0-4",
        "none",
        "=0-4",
        "0-4",
        "bytes=-",
        "bytes=--1",
        "bytes=-1-",
        "bytes=-1-2",
        "bytes=0",
        "bytes=0-1-2",
        "bytes=4-3",
        "bytes=0-1,4-3",
        "bytes=4-3,0-1",
        "bytes=18446744073709551615-18446744073709551614",
        "bytes=a-b",
        "bytes=0-b",
        "bytes=0x0-0x4",
        "bytes=+0-4",
        "bytes=0-+4",
        "bytes=0.0-4",
        "bytes=0-4;",
        "bytes=0-4;q=1",
        "bytes=\"0-4\"",
        "bytes=0-4,x",
        "bytes=x,0-4",
        "bytes=0-4,bytes=6-8",
        "bytes==0-4",
        "bytes=0-4/10",
        "bytes=*",
        "bytes=\xb2-4",
        "bytes=18446744073709551616-9",
        "bytes=0-1,99999999999999999999999999999999999999999-5",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (strcmp(parse(cases[i], 10), "ignore"))
            fail_msg("taken: '%s'", cases[i]);
}

TEST(every_byte_belongs_to_the_verdict)
{
    assert_int_equal(range_parse((struct bytes){"bytes=0-4\0", 10}, 10, ranges,
                                 &count),
                     RANGE_IGNORE);
    assert_int_equal(range_parse((struct bytes){"bytes=0-45", 9}, 100, ranges,
                                 &count),
                     RANGE_PARTIAL);
    assert_int_equal(ranges[0].last, 4);
    assert_int_equal(range_parse((struct bytes){NULL, 0}, 10, ranges, &count),
                     RANGE_IGNORE);
}

/* "bytes=" and n times the same, with commas between. */
static const char *repeat(const char *spec, int n)
{
    static char text[1024];
    size_t len = (size_t)snprintf(text, sizeof(text), "bytes=");

    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                i > 0 ? "," : "", spec);
    return text;
}

TEST(more_ranges_than_anyone_needs_are_ignored)
{
    char text[1024] = "bytes=";

    assert_string_equal(parse(repeat("0-0", RANGE_COUNT_MAX), 10), "0-0");
    assert_string_equal(parse(repeat("0-0", RANGE_COUNT_MAX + 1), 10),
                        "ignore");
    assert_string_equal(parse(repeat("10-", RANGE_COUNT_MAX), 10), "416");
    assert_string_equal(parse(repeat("10-", RANGE_COUNT_MAX + 1), 10),
                        "ignore");
    assert_string_equal(parse(repeat("-0", RANGE_COUNT_MAX + 1), 10), "ignore");
    for (int i = 0; i < RANGE_COUNT_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d-%d,",
                 1000 - 3 * i, 1001 - 3 * i);
    parse(text, 2000);
    assert_int_equal(count, RANGE_COUNT_MAX);
}

/* --- Random runs -------------------------------------------------------- */

/* One bit for each byte of a representation of up to 64. */
static uint64_t bits_of(unsigned first, unsigned last, unsigned length)
{
    uint64_t bits = 0;

    for (unsigned i = first; i <= last && i < length; i++)
        bits |= UINT64_C(1) << i;
    return bits;
}

/* Appends a random spec to text and returns which bytes it means. */
static uint64_t add_random_spec(char *text, size_t size, unsigned length)
{
    static const char *const commas[] = {",", ", ", " ,", "\t, ", ",,", ", ,"};
    unsigned first = draw(length + 4);
    unsigned last = first + draw(draw(2) ? 4 : length + 1);
    size_t len = strlen(text);

    if (text[len - 1] != '=')
        len += (size_t)snprintf(text + len, size - len, "%s", commas[draw(6)]);
    switch (draw(6)) {
    case 0:
        snprintf(text + len, size - len, "-%u", first);
        return bits_of(first < length ? length - first : 0, length, length);
    case 1:
        snprintf(text + len, size - len, "%u-", first);
        return bits_of(first, length, length);
    default:
        snprintf(text + len, size - len, "%u-%u", first, last);
        return bits_of(first, last, length);
    }
}

/* The model: ranges are the runs of ones among all wanted bits, in the order
 * of the first spec that has a bit of theirs. */
static void check_against_bits(const char *text, unsigned length,
                               const uint64_t *specs, size_t spec_count)
{
    uint64_t wanted = 0;
    uint64_t found = 0;
    size_t before = 0;

    for (size_t i = 0; i < spec_count; i++)
        wanted |= specs[i];
    if (wanted == 0) {
        assert_string_equal(parse(text, length), "416");
        return;
    }
    parse(text, length);
    for (size_t i = 0; i < count; i++) {
        unsigned first = (unsigned)ranges[i].first;
        unsigned last = (unsigned)ranges[i].last;
        uint64_t bits = bits_of(first, last, length);
        size_t asked = 0;

        assert_true(first <= last && last < length);
        assert_int_equal(bits & wanted, bits);
        assert_true(first == 0 || !(wanted >> (first - 1) & 1));
        assert_true(last + 1 == length || !(wanted >> (last + 1) & 1));
        assert_int_equal(bits & found, 0);
        found |= bits;
        while (asked < spec_count && !(specs[asked] & bits))
            asked++;
        assert_true(i == 0 || asked > before);
        before = asked;
    }
    assert_int_equal(found, wanted);
}

TEST(random_sets_agree_with_a_naive_bitmap)
{
    draw_seed = 9110;
    for (int round = 0; round < 50000; round++) {
        unsigned length = 1 + draw(64);
        size_t spec_count = 1 + draw(RANGE_COUNT_MAX);
        uint64_t specs[RANGE_COUNT_MAX];
        char text[1024] = "bytes=";

        if (draw(2))
            spec_count = 1 + spec_count % 4;
        for (size_t i = 0; i < spec_count; i++)
            specs[i] = add_random_spec(text, sizeof(text), length);
        check_against_bits(text, length, specs, spec_count);
    }
}

/* Whether text has an int-range that ends before it begins. */
static bool has_backward_range(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        char *dash;
        unsigned long first = strtoul(at, &dash, 10);

        if (*at < '0' || *at > '9')
            continue;
        if (dash[0] == '-' && dash[1] >= '0' && dash[1] <= '9' &&
            strtoul(dash + 1, NULL, 10) < first)
            return true;
        at = dash - 1;
    }
    return false;
}

/* The grammar once more, as a regular expression. */
TEST(random_texts_agree_with_the_grammar)
{
    static const char grammar[] =
        "^bytes=([0-9]+-[0-9]*|-[0-9]+)?"
        "([ \t]*,[ \t]*([0-9]+-[0-9]*|-[0-9]+)?)*[ \t]*$";
    static const char letters[] = "01358--,,  \tb=";
    unsigned valid = 0;
    regex_t regex;

    draw_seed = 9110;
    assert_int_equal(regcomp(&regex, grammar, REG_EXTENDED | REG_NOSUB), 0);
    for (int round = 0; round < 100000; round++) {
        char text[32] = "bytes=";
        size_t len = 6 + draw(10);
        bool is_valid;

        for (size_t i = 6; i < len; i++)
            text[i] = letters[draw(sizeof(letters) - 1)];
        is_valid = regexec(&regex, text, 0, NULL, 0) == 0 &&
                   strpbrk(text, "0123456789") && !has_backward_range(text);
        valid += is_valid;
        if (is_valid == (strcmp(parse(text, 6), "ignore") == 0))
            fail_msg("'%s' is %s", text, is_valid ? "valid" : "not valid");
    }
    regfree(&regex);
    assert_true(valid > 1000);
}
