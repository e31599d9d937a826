/* link: -Wl,--wrap=fstatat,--wrap=readdir,--wrap=malloc,--wrap=realloc */
#include "handler/listing.h"

#include "unit/handler/listing_fixture.h"

/* --- Which format --------------------------------------------------------- */

/* Up to two Accept fields, parted by '|'. */
static enum listing_format choose(const char *accept)
{
    struct field fields[2] = {{.id = FIELD_OTHER}};
    struct request request = {.fields = fields};

    for (const char *at = accept; at; at = strchr(at, '|')) {
        struct field *field = &request.fields[request.field_count++];

        at += *at == '|';
        field->id = FIELD_ACCEPT;
        field->name = BYTES("Accept");
        field->value = (struct bytes){at, strcspn(at, "|")};
        request.seen |= 1u << FIELD_ACCEPT;
    }
    return listing_choose(&request);
}

TEST(accept_decides_the_format)
{
    static const struct {
        const char *accept;
        enum listing_format format;
    } cases[] = {
        {NULL, LISTING_HTML},
        {"", LISTING_HTML},
        {"*/*", LISTING_HTML},
        {"text/html", LISTING_HTML},
        {"image/png", LISTING_HTML},
        {"application/json", LISTING_JSON},
        {"Application/JSON", LISTING_JSON},
        {"application/*", LISTING_JSON},
        {"application/json; charset=utf-8", LISTING_JSON},
        {"application/json, text/html", LISTING_HTML},
        {"application/json, text/plain, */*", LISTING_HTML},
        {"application/json, */*;q=0.9", LISTING_JSON},
        {"application/json, text/*;q=0.5", LISTING_JSON},
        {"application/json;q=0.4, text/*;q=0.5", LISTING_HTML},
        {"application/json;q=0.4, text/*;q=0.5, text/html;q=0.3", LISTING_JSON},
        {"text/html;q=0.8,application/json;q=0.9", LISTING_JSON},
        {"text/html;q=0.8|application/json;q=0.9", LISTING_JSON},
        {"text/html;q=0.8;Q=0.9,application/json;q=0.85", LISTING_HTML},
        {"text/html;q=0, */*;q=0.001", LISTING_JSON},
        {"application/json;q=0, */*", LISTING_HTML},
        {"application/json;q=0.999 ,\ttext/html ; q=1.000", LISTING_HTML},
        {"application/json;q=1.001", LISTING_HTML},
        {"application/json;q=2", LISTING_HTML},
        {"application/json;q=", LISTING_HTML},
        {"application/json;q=0.1234", LISTING_HTML},
        {"application/json;q=-1", LISTING_HTML},
        {"application/json;q=1.", LISTING_JSON},
        {",, ,application/json,,", LISTING_JSON},
        {"text/html;q=0.1,text/html;q=0.9,application/json;q=0.5",
         LISTING_HTML},
        {"text/html;q=0.9,text/html;q=0.1,application/json;q=0.5",
         LISTING_HTML},
        {"text/html;x=\",application/json;q=1\";q=0.9", LISTING_HTML},
        {"text/html;x=\"\\\",application/json\"", LISTING_HTML},
        {"text/html;q=0.1;x=\"", LISTING_HTML},
        {"text/html;x=\"\\", LISTING_HTML},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
         LISTING_HTML},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (choose(cases[i].accept) != cases[i].format)
            fail_msg("wrong for: %s", cases[i].accept);
}
/* --- What is listed ------------------------------------------------------- */

TEST(directories_come_first_then_names_in_order)
{
    make_file(*state, "b");
    make_file(*state, "C");
    make_file(*state, "a");
    make_file(*state, "A");
    make_file(*state, "ab");
    make_directory(*state, "z");
    make_directory(*state, "d");
    assert_names(*state, "/", false, "d z A a ab b C ");
}

TEST(hidden_names_are_left_out_unless_asked_for)
{
    make_file(*state, "a");
    make_file(*state, ".secret");
    make_file(*state, "...");
    make_directory(*state, ".git");
    make_directory(*state, ".well-known");
    assert_names(*state, "/", false, ".well-known a ");
    assert_names(*state, "/", true, ".git .well-known ... .secret a ");
}

TEST(symlinks_are_listed_as_what_can_be_served)
{
    struct place *place = *state;
    struct stat st = {.st_mtim.tv_sec = 0};
    char *json;

    make_directory(place, "in");
    make_file(place, "file");
    assert_int_equal(mkfifoat(place->fd, "fifo", 0644), 0);
    assert_int_equal(symlinkat("../file", place->fd, "in/file"), 0);
    assert_int_equal(symlinkat("..", place->fd, "in/up"), 0);
    assert_int_equal(symlinkat("../fifo", place->fd, "in/fifo"), 0);
    assert_int_equal(symlinkat("nowhere", place->fd, "in/broken"), 0);
    assert_int_equal(symlinkat("loop", place->fd, "in/loop"), 0);
    assert_int_equal(symlinkat("../..", place->fd, "in/out"), 0);
    assert_int_equal(symlinkat(place->name, place->fd, "in/absolute"), 0);
    assert_int_equal(symlinkat("/dev/null", place->fd, "in/device"), 0);
    told = &st;
    assert_names(place, "/in/", false, "up file ");
    json = list_path(place, "/in/", LISTING_JSON, false);
    assert_has(json, "\"up\",\"type\":\"directory\"");
    assert_has(json, "\"file\",\"type\":\"file\"");
    free(json);
}

TEST(what_vanishes_meanwhile_is_left_out)
{
    make_file(*state, "a");
    make_file(*state, "b");
    make_file(*state, "c");
    vanishing = "b";
    assert_names(*state, "/", false, "a c ");
}
/* --- Large directories ---------------------------------------------------- */

static unsigned five_digits(const char *text)
{
    unsigned n = 0;

    for (int i = 0; i < 5; i++)
        n = 10 * n + (unsigned)(text[i] - '0');
    return n;
}

/* Lists made-up names, all of which must be there once; whether they came in
 * order. */
static bool list_made_up(const struct place *place, unsigned count, size_t len)
{
    bool *seen = calloc(count, sizeof(*seen));
    bool is_sorted = true;
    char *json, *names;

    made_up_count = count;
    made_up_len = len;
    made_up_at = 0;
    json = list(place, LISTING_JSON);
    names = names_of(json);
    assert_int_equal(strlen(names), (len + 1) * count);
    for (unsigned i = 0; i < count; i++) {
        unsigned n = five_digits(names + (len + 1) * i);

        assert_true(n < count && !seen[n]);
        seen[n] = true;
        is_sorted = is_sorted && n == i;
    }
    free(seen);
    free(names);
    free(json);
    return is_sorted;
}

TEST(as_many_as_can_be_sorted_come_sorted)
{
    assert_true(list_made_up(*state, 65, 5));
    assert_true(list_made_up(*state, LISTING_SORT_MAX, 5));
    assert_true(list_made_up(*state, LISTING_SORT_MAX - 100, 255));
}

TEST(more_than_can_be_sorted_come_whole_all_the_same)
{
    char *page;

    assert_false(list_made_up(*state, LISTING_SORT_MAX + 1, 5));
    assert_false(list_made_up(*state, 99999, 5));
    made_up_at = 0;
    page = list(*state, LISTING_HTML);
    assert_has(page, "<p>99999 entries</p>");
    free(page);
}

TEST(names_that_fill_the_memory_come_unsorted)
{
    assert_false(list_made_up(*state, 4000, 1000));
}

TEST(longer_names_than_any_file_system_has_are_skipped)
{
    assert_true(list_made_up(*state, 10, 1024));
    made_up_at = 0;
    made_up_len = 1025;
    assert_names(*state, "/", false, "");
}

/* Ever longer names bring the end of the page to every place of a fill. */
TEST(end_of_the_page_waits_for_room)
{
    made_up_count = 64;
    for (made_up_len = 5; made_up_len < 205; made_up_len++) {
        char *page;

        made_up_at = 0;
        page = list(*state, LISTING_HTML);
        assert_has(page, "</script>\n</html>\n");
        free(page);
    }
}

TEST(the_first_fill_already_shows_the_page)
{
    struct place *place = *state;
    struct source *source;
    struct piece piece;

    made_up_count = 300;
    made_up_at = 0;
    source = listing_open(&place->root, &group, BYTES("/"), LISTING_HTML,
                          false);
    assert_non_null(source);
    piece = pull(source);
    assert_int_equal(piece.state, PIECE_MORE);
    assert_true(piece.part.len > 100);
    source->destroy(source);
}

/* --- Clients that take nothing -------------------------------------------- */

TEST(few_directories_stay_open_and_all_are_read_to_their_end)
{
    enum { LISTINGS = LISTING_OPEN_MAX + 40, FILES = 200 };
    struct place *place = *state;
    struct source *sources[LISTINGS];
    char *whole;

    for (int i = 0; i < FILES; i++) {
        char name[24];

        snprintf(name, sizeof(name), "file-%03d", i);
        make_file(place, name);
    }
    whole = list(place, LISTING_JSON);
    for (int i = 0; i < LISTINGS; i++) {
        sources[i] = listing_open(&place->root, &group, BYTES("/"),
                                  LISTING_JSON, false);
        assert_non_null(sources[i]);
        /* Some have begun to read. */
        for (int pulls = 0; pulls < i % 3; pulls++)
            assert_int_equal(pull(sources[i]).state, PIECE_MORE);
        assert_in_range(count_open(), 0, place->open_count + LISTING_OPEN_MAX);
    }
    for (int i = 0; i < LISTINGS; i++) {
        char *text = read_all(sources[i]);

        assert_non_null(text);
        /* What was pulled before is only the begin. */
        assert_string_equal(text, whole + strlen(whole) - strlen(text));
        assert_in_range(strlen(text), strlen(whole) - 100, strlen(whole));
        free(text);
    }
    free(whole);
    assert_int_equal(group.count, 0);
}

/* The last listings find the memory in use, and read no more than a batch. */
TEST(listings_together_read_so_much_ahead)
{
    enum { LISTINGS = 64, NAMES = 4000, LEN = 20, SOME = 16384 };
    struct place *place = *state;
    struct source *sources[LISTINGS];
    size_t most = LISTING_HELD_MAX + NAMES * (size_t)(LEN + 32) * 2 +
                  LISTINGS * (size_t)SOME;

    made_up_count = NAMES;
    made_up_len = LEN;
    for (int i = 0; i < LISTINGS; i++) {
        made_up_at = 0;
        sources[i] = listing_open(&place->root, &group, BYTES("/"),
                                  LISTING_JSON, false);
        assert_non_null(sources[i]);
        /* Pulls until there are names behind the intro. */
        while (pull(sources[i]).part.len < 1000)
            ;
        assert_in_range(group.held, 1, most);
    }
    for (int i = 0; i < LISTINGS; i++)
        sources[i]->destroy(sources[i]);
    assert_int_equal(group.held, 0);
}

TEST(without_memory_for_more_a_batch_comes_sorted)
{
    group.held = LISTING_HELD_MAX;
    assert_true(list_made_up(*state, 63, 5));
    assert_false(list_made_up(*state, 1000, 5));
    assert_int_equal(group.held, LISTING_HELD_MAX);
    group.held = 0;
    assert_true(list_made_up(*state, 1000, 5));
}

TEST(a_directory_that_is_gone_meanwhile_breaks_off)
{
    struct place *place = *state;
    struct source *others[LISTING_OPEN_MAX];
    struct source *first;

    make_directory(place, "d");
    first = listing_open(&place->root, &group, BYTES("/d/"), LISTING_HTML,
                         false);
    assert_non_null(first);
    for (int i = 0; i < LISTING_OPEN_MAX; i++)
        others[i] = listing_open(&place->root, &group, BYTES("/"), LISTING_HTML,
                                 false);
    assert_int_equal(unlinkat(place->fd, "d", AT_REMOVEDIR), 0);
    assert_null(read_all(first));
    for (int i = 0; i < LISTING_OPEN_MAX; i++)
        others[i]->destroy(others[i]);
    assert_int_equal(group.count, 0);
}

/* --- What fails ----------------------------------------------------------- */

TEST(only_a_directory_can_be_listed)
{
    struct place *place = *state;

    make_file(place, "a");
    assert_null(listing_open(&place->root, &group, BYTES("/a"), LISTING_HTML,
                             false));
    assert_null(listing_open(&place->root, &group, BYTES("/a/"), LISTING_HTML,
                             false));
    assert_null(listing_open(&place->root, &group, BYTES("/b/"), LISTING_HTML,
                             false));
}

TEST(unreadable_directory_breaks_off)
{
    struct place *place = *state;

    for (int i = 0; i < 150; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%d", i);
        make_file(place, name);
    }
    for (int reads = 0; reads < 150; reads += 50) {
        reads_left = reads;
        assert_null(read_all(listing_open(&place->root, &group, BYTES("/"),
                                          LISTING_HTML, false)));
    }
}

/* Runs a listing with ever more memory, until that is enough. */
TEST(want_of_memory_breaks_off)
{
    struct place *place = *state;
    int at = 0;

    made_up_count = 300;
    for (;; at++) {
        struct source *source;
        struct piece piece = {.state = PIECE_MORE};

        made_up_at = 0;
        allocations_left = at;
        source = listing_open(&place->root, &group, BYTES("/"), LISTING_HTML,
                              false);
        while (source && piece.state == PIECE_MORE)
            piece = pull(source);
        if (source)
            source->destroy(source);
        if (source && piece.state == PIECE_END)
            break;
    }
    assert_in_range(at, 4, 40);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
