/* link: -Wl,--wrap=fstatat,--wrap=readdir,--wrap=malloc,--wrap=realloc */
#include "handler/listing.h"

#include <limits.h>
#include <time.h>

#include "sha256.h"
#include "unit/handler/listing_fixture.h"

/* --- Fields --------------------------------------------------------------- */

static char *describe(enum listing_format format)
{
    struct buf head;

    buf_init(&head, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    listing_describe(format, &head);
    buf_put(&head, (struct bytes){"", 1});
    assert_false(head.failed);
    return head.data;
}

TEST(json_says_what_it_is)
{
    char *head = describe(LISTING_JSON);

    assert_string_equal(head, "Content-Type: application/json\r\n"
                              "Vary: Accept\r\n"
                              "Cache-Control: no-cache\r\n");
    free(head);
}

static void assert_allowed(const char *page, const char *head,
                           const char *directive, const char *begin,
                           const char *end)
{
    const char *text = strstr(page, begin) + strlen(begin);
    char hash[45];
    char allowed[128];

    sha256_base64(bytes_between(text, strstr(text, end)), hash);
    snprintf(allowed, sizeof(allowed), "%s 'sha256-%s';", directive, hash);
    assert_has(head, allowed);
}

TEST(page_allows_its_own_style_and_script_only)
{
    char *head = describe(LISTING_HTML);
    char *page = list(*state, LISTING_HTML);

    assert_has(head, "Content-Type: text/html; charset=utf-8\r\n"
                     "Vary: Accept\r\n"
                     "Cache-Control: no-cache\r\n"
                     "Content-Security-Policy: default-src 'none'; ");
    assert_has_not(head, "unsafe");
    assert_allowed(page, head, "style-src", "<style>", "</style>");
    assert_allowed(page, head, "script-src", "<script>", "</script>");
    assert_null(strstr(strstr(page, "<script>") + 1, "<script"));
    assert_has_not(page, "style=");
    assert_has_not(page, "onclick=");
    free(head);
    free(page);
}

TEST(hashes_of_the_test_are_right)
{
    char hash[45];

    sha256_base64(BYTES("abc"), hash); /* FIPS 180-4's own examples */
    assert_string_equal(hash, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    sha256_base64(
        BYTES("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        hash);
    assert_string_equal(hash, "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}
/* --- Entries -------------------------------------------------------------- */

TEST(json_tells_name_type_size_and_time)
{
    struct place *place = *state;
    struct stat st = {.st_size = 123, .st_mtim.tv_sec = 1767225600};
    char *json;

    make_directory(place, "x");
    make_directory(place, "x/d");
    make_file(place, "x/a");
    assert_int_equal(mkfifoat(place->fd, "x/p", 0644), 0);
    told = &st;
    json = list_path(place, "/x/", LISTING_JSON, false);
    assert_string_equal(json,
                        "{\"path\":\"/x/\",\"entries\":[\n"
                        "{\"name\":\"d\",\"type\":\"directory\",\"size\":null,"
                        "\"modified\":\"2026-01-01T00:00:00Z\"},\n"
                        "{\"name\":\"a\",\"type\":\"file\",\"size\":123,"
                        "\"modified\":\"2026-01-01T00:00:00Z\"},\n"
                        "{\"name\":\"p\",\"type\":\"other\",\"size\":null,"
                        "\"modified\":\"2026-01-01T00:00:00Z\"}\n"
                        "]}\n");
    free(json);
}

TEST(page_links_files_and_directories_only)
{
    struct place *place = *state;
    struct stat st = {.st_size = 1536, .st_mtim.tv_sec = 1767225600};
    char *page;

    make_directory(place, "d");
    make_file(place, "a");
    assert_int_equal(mkfifoat(place->fd, "p", 0644), 0);
    told = &st;
    page = list(place, LISTING_HTML);
    assert_has(page, "<tbody>\n"
                     "<tr class=\"d\"><td><a href=\"./d/\">d/</a><td><td>"
                     "<time>2026-01-01 00:00:00Z</time>\n"
                     "<tr><td><a href=\"./a\">a</a><td>"
                     "<data value=\"1536\">1.5 KiB</data><td>"
                     "<time>2026-01-01 00:00:00Z</time>\n"
                     "<tr><td>p<td><td>"
                     "<time>2026-01-01 00:00:00Z</time>\n"
                     "</table>\n<p>3 entries</p>\n");
    free(page);
}

TEST(empty_directory_says_so)
{
    char *json = list(*state, LISTING_JSON);
    char *page = list(*state, LISTING_HTML);

    assert_string_equal(json, "{\"path\":\"/\",\"entries\":[\n]}\n");
    assert_has(page, "<p>Nothing here.</p>");
    free(json);
    free(page);
}

TEST(one_entry_is_counted_as_one)
{
    char *page;

    make_file(*state, "a");
    page = list(*state, LISTING_HTML);
    assert_has(page, "<p>1 entry</p>");
    free(page);
}

TEST(rows_come_in_groups_of_a_hundred)
{
    char *page;
    size_t groups = 0;

    made_up_count = 201;
    page = list(*state, LISTING_HTML);
    for (const char *at = page; (at = strstr(at, "<tbody>\n")); at++)
        groups++;
    assert_int_equal(groups, 3);
    assert_has(page, "Z</time>\n<tbody>\n<tr><td><a href=\"./00100\">");
    assert_has(page, "Z</time>\n<tbody>\n<tr><td><a href=\"./00200\">");
    free(page);
}

/* --- Names ---------------------------------------------------------------- */

static const char *const odd_names[] = {
    "<script>alert(1)<",
    "a&amp;b",
    "\"onmouseover=x\"",
    "it's",
    "two  spaces ",
    "100%41",
    "a?b#c",
    "javascript:alert(1)",
    "caf\303\251 \342\202\254 \360\237\220\247",
    "latin\351",
    "cut\342\202",
    "overlong\300\257",
    "surrogate\355\240\200",
    "line\nbreak\ttab\rreturn\001\177",
    "back\\slash",
    "]}",
    "~-._!$()*,;=@+",
};

static void make_odd_files(const struct place *place)
{
    for (size_t i = 0; i < sizeof(odd_names) / sizeof(*odd_names); i++)
        make_file(place, odd_names[i]);
}

TEST(names_are_valid_in_json_whatever_they_hold)
{
    char *json;

    make_odd_files(*state);
    json = list(*state, LISTING_JSON); /* checks that it is JSON */
    assert_has(json, "\"<script>alert(1)<\"");
    assert_has(json, "\"\\\"onmouseover=x\\\"\"");
    assert_has(json, "\"caf\303\251 \342\202\254 \360\237\220\247\"");
    assert_has(json, "\"latin\\ufffd\"");
    assert_has(json, "\"back\\\\slash\"");
    assert_has(json, "\"line\\u000abreak\\u0009tab\\u000dreturn"
                     "\\u0001\\u007f\"");
    free(json);
}

TEST(names_are_escaped_in_the_page)
{
    char *page;

    make_odd_files(*state);
    page = list(*state, LISTING_HTML);
    assert_has(page, ">&lt;script&gt;alert(1)&lt;</a>");
    assert_has(page, ">a&amp;amp;b</a>");
    assert_has(page, ">&quot;onmouseover=x&quot;</a>");
    assert_has(page, ">it&#39;s</a>");
    assert_has(page, ">caf\303\251 \342\202\254 \360\237\220\247</a>");
    free(page);
}

TEST(links_are_encoded_and_name_no_scheme)
{
    char *page;

    make_odd_files(*state);
    make_directory(*state, "a:b c");
    page = list(*state, LISTING_HTML);
    assert_has(page, "<a href=\"./%3Cscript%3Ealert(1)%3C\">");
    assert_has(page, "<a href=\"./%22onmouseover=x%22\">");
    assert_has(page, "<a href=\"./two%20%20spaces%20\">");
    assert_has(page, "<a href=\"./100%2541\">");
    assert_has(page, "<a href=\"./a%3Fb%23c\">");
    assert_has(page, "<a href=\"./caf%C3%A9%20%E2%82%AC%20%F0%9F%90%A7\">");
    assert_has(page, "<a href=\"./latin%E9\">");
    assert_has(page, "<a href=\"./line%0Abreak%09tab%0Dreturn%01%7F\">");
    assert_has(page, "<a href=\"./back%5Cslash\">");
    assert_has_not(page, "\"javascript:");
    assert_has_not(page, "\"a:b");
    assert_has(page, "%20c/\">a:b c/</a>");
    /* Every link is relative and holds nothing that ends it early. */
    for (const char *at = page; (at = strstr(at, " href=\"")); at++) {
        const char *list_node = at + strlen(" href=\"");
        size_t len = strcspn(list_node, "\"");

        assert_memory_equal(list_node, "./", 2);
        assert_true(strcspn(list_node, " <>'&?#\n\r\t\\") > len);
    }
    free(page);
}

/* --- Sizes and times ------------------------------------------------------ */

static void assert_in_page(const struct place *place, const struct stat *st,
                           const char *part)
{
    char *page;

    told = st;
    page = list(place, LISTING_HTML);
    assert_has(page, part);
    free(page);
}

TEST(sizes_read_well_and_sort_exactly)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0\">0 B<"},
        {1, "1\">1 B<"},
        {1023, "1023\">1023 B<"},
        {1024, "1024\">1.0 KiB<"},
        {1076, "1076\">1.1 KiB<"},
        {10188, "10188\">9.9 KiB<"},
        {10189, "10189\">10 KiB<"},
        {1048063, "1048063\">1023 KiB<"},
        {1048064, "1048064\">1.0 MiB<"},
        {1048576, "1048576\">1.0 MiB<"},
        {20971520, "20971520\">20 MiB<"},
        {5368709120, "5368709120\">5.0 GiB<"},
        {1152921504606846975, "1152921504606846975\">1.0 EiB<"},
        {INT64_MAX, "9223372036854775807\">8.0 EiB<"},
    };

    make_file(*state, "a");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct stat st = {.st_size = cases[i].bytes};

        assert_in_page(*state, &st, cases[i].text);
    }
}

TEST(times_are_those_of_the_calendar)
{
    const int64_t first = -62167219200; /* 0000-01-01T00:00:00Z */
    const int64_t last = 253402300799;  /* 9999-12-31T23:59:59Z */
    int64_t cases[400] = {0, -1, 951782399, 951782400, 4107542400, first, last};
    unsigned short seed[3] = {1, 2, 3};

    for (size_t i = 7; i < sizeof(cases) / sizeof(*cases); i++)
        cases[i] = first + (int64_t)(erand48(seed) * (double)(last - first));
    make_file(*state, "a");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct stat st = {.st_mtim.tv_sec = cases[i]};
        struct tm tm;
        char text[64];

        assert_non_null(gmtime_r(&st.st_mtim.tv_sec, &tm));
        snprintf(text, sizeof(text), "<time>%04d-%02d-%02d %02d:%02d:%02dZ<",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec);
        assert_in_page(*state, &st, text);
    }
}

TEST(times_beyond_four_digit_years_are_clamped)
{
    struct stat early = {.st_mtim.tv_sec = INT64_MIN};
    struct stat late = {.st_mtim.tv_sec = INT64_MAX};

    make_file(*state, "a");
    assert_in_page(*state, &early, "<time>0000-01-01 00:00:00Z<");
    assert_in_page(*state, &late, "<time>9999-12-31 23:59:59Z<");
}

/* --- The way up ----------------------------------------------------------- */

TEST(root_has_no_way_up)
{
    char *page = list(*state, LISTING_HTML);

    assert_has(page, "<main>\n<h1>Index of /</h1>");
    assert_has_not(page, "../");
    free(page);
}

TEST(path_is_shown_as_links_to_what_is_above)
{
    char *page;

    make_directory(*state, "a&b");
    make_directory(*state, "a&b/c");
    make_directory(*state, "a&b/c/<d>");
    page = list_path(*state, "/a&b/c/<d>/", LISTING_HTML, false);
    assert_has(page, "<title>Index of /a&amp;b/c/&lt;d&gt;/</title>");
    assert_has(page, "<a href=\"../../../\">Home</a> / "
                     "<a href=\"../../\">a&amp;b</a> / "
                     "<a href=\"../\">c</a> /</nav>\n"
                     "<main>\n<h1>&lt;d&gt;</h1>");
    assert_has(page, "<a href=\"../\">Parent directory</a>");
    free(page);
}

/* Makes nested directories of that name; path_out gets "/name/name/". */
static void make_deep(const struct place *place, const char *name, int depth,
                      char path_out[PATH_MAX])
{
    size_t len = 1;

    path_out[0] = '/';
    for (int i = 0; i < depth; i++) {
        size_t step = strlen(name);

        assert_true(len + step + 2 < PATH_MAX);
        memcpy(path_out + len, name, step + 1);
        make_directory(place, path_out + 1);
        memcpy(path_out + len + step, "/", 2);
        len += step + 1;
    }
}

TEST(deep_path_shows_the_nearest_links_only)
{
    char path[PATH_MAX];
    char *page;
    size_t links = 0;

    make_deep(*state, "d", 1000, path);
    page = list_path(*state, path, LISTING_HTML, false);
    assert_has(page, ">Home</a> / &hellip; / <a href=\"../../");
    for (const char *at = page; (at = strstr(at, ">d</a>")); at++)
        links++;
    assert_int_equal(links, 11);
    assert_true(strlen(page) < BODY_PIECE_BYTES);
    free(page);
}

/* 15 names of 255 bytes that each become six, three times over. */
TEST(path_longer_than_a_fill_comes_in_pieces)
{
    char name[256];
    char path[PATH_MAX];
    char *page;

    memset(name, '"', 255);
    name[255] = '\0';
    make_deep(*state, name, 15, path);
    page = list_path(*state, path, LISTING_HTML, false);
    assert_true(strlen(page) > 2 * BODY_PIECE_BYTES);
    assert_has(page, "<p>Nothing here.</p>");
    free(page);
    page = list_path(*state, path, LISTING_JSON, false);
    assert_has(page, "\"entries\":[\n]}");
    free(page);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
