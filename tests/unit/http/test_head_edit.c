#include "http/head_edit.h"

#include "http/http1/http1_frame.h"
#include "suite.h"

#define BEGIN             \
    "HTTP/1.1 200 OK\r\n" \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static struct head_edits edits;

static int set_up(void **state)
{
    (void)state;
    edits = (struct head_edits){0};
    return 0;
}

static void edit(enum head_edit_kind kind, const char *text)
{
    const char *fault = head_edits_add(&edits, kind, bytes_of(text));

    if (fault)
        fail_msg("'%s' %s", text, fault);
}

/* What becomes of the lines. */
static void assert_makes(const char *lines, const char *expected,
                         bool keeps_type)
{
    char storage[1000];
    char text[1000];
    struct buf head;

    buf_init(&head, storage, sizeof(storage), sizeof(storage));
    buf_put_literal(&head, BEGIN);
    buf_put(&head, bytes_of(lines));
    head_edits_apply(&edits, &head, sizeof(BEGIN) - 1, keeps_type);
    buf_put(&head, (struct bytes){"", 1});
    assert_false(head.failed);
    snprintf(text, sizeof(text), "%s%s", BEGIN, expected);
    assert_string_equal(head.data, text);
    buf_fini(&head);
}

TEST(a_token_has_letters_digits_and_some_marks)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    for (unsigned c = 0; c < 256; c++) {
        char text[] = {'a', (char)c, 'b'};
        bool is_one = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z') ||
                      memchr(marks, (int)c, sizeof(marks) - 1);

        if (head_is_token((struct bytes){text, sizeof(text)}) != is_one)
            fail_msg("byte %u", c);
    }
    assert_false(head_is_token(BYTES("")));
}

/* RFC 9651 3.3.4. */
TEST(a_token_of_structured_fields_begins_with_a_letter_or_a_star)
{
    assert_true(head_is_sf_token(BYTES("a1")));
    assert_true(head_is_sf_token(BYTES("Zz-._~")));
    assert_true(head_is_sf_token(BYTES("*")));
    assert_false(head_is_sf_token(BYTES("10.0.0.1")));
    assert_false(head_is_sf_token(BYTES("_a")));
    assert_false(head_is_sf_token(BYTES("-a")));
}

TEST(no_edits_change_nothing)
{
    assert_makes("A: b\r\nC: d\r\n", "A: b\r\nC: d\r\n", false);
}

TEST(fields_of_one_name_are_found_one_after_the_other)
{
    const struct bytes lines =
        BYTES("A: 1\r\nVary: x\r\nvary:\r\nB: Vary\r\nVary: y \r\n");
    size_t at = 0;
    struct bytes value = head_find_next(lines, &at, BYTES("Vary"));

    assert_true(bytes_eq(value, BYTES("x")));
    value = head_find_next(lines, &at, BYTES("Vary"));
    assert_non_null(value.data);
    assert_int_equal(value.len, 0);
    value = head_find_next(lines, &at, BYTES("Vary"));
    assert_true(bytes_eq(value, BYTES("y")));
    assert_null(head_find_next(lines, &at, BYTES("Vary")).data);
    assert_int_equal(at, lines.len);
}

TEST(set_takes_the_place_of_every_line_of_the_name)
{
    edit(HEAD_SET, "x-a:  new one\t");
    assert_makes("X-A: 1\r\nB: 2\r\nX-a: 3\r\n", "B: 2\r\nx-a: new one\r\n",
                 false);
    assert_makes("", "x-a: new one\r\n", false);
    assert_makes("X-A-B: 1\r\nX: 2\r\n", "X-A-B: 1\r\nX: 2\r\nx-a: new one\r\n",
                 false);
}

TEST(add_leaves_what_is_there)
{
    edit(HEAD_ADD, "Vary: Cookie");
    edit(HEAD_ADD, "Vary: Cookie");
    assert_makes("Vary: Accept\r\n",
                 "Vary: Accept\r\nVary: Cookie\r\nVary: Cookie\r\n", false);
}

TEST(remove_drops_every_line_of_the_name)
{
    edit(HEAD_REMOVE, "server");
    assert_makes("Server: a\r\nB: Server: c\r\nSERVER:\r\n", "B: Server: c\r\n",
                 false);
    assert_makes("B: c\r\n", "B: c\r\n", false);
}

TEST(edits_are_made_in_their_order)
{
    edit(HEAD_ADD, "A: 1");
    edit(HEAD_REMOVE, "A");
    edit(HEAD_ADD, "A: 2");
    edit(HEAD_SET, "B: 3");
    assert_makes("A: 0\r\nB: 0\r\n", "A: 2\r\nB: 3\r\n", false);
}

TEST(the_date_stays_where_caches_look_for_it)
{
    char storage[1000];
    struct buf head;

    edit(HEAD_REMOVE, "Server");
    edit(HEAD_REMOVE, "X-Content-Type-Options");
    buf_init(&head, storage, sizeof(storage), sizeof(storage));
    buf_put_literal(&head, BEGIN "Server: s\r\nX-Content-Type-Options: n\r\n");
    head_edits_apply(&edits, &head, HTTP1_CACHED_FIELDS_AT, false);
    assert_int_equal(head.len, sizeof(BEGIN) - 1);
    assert_memory_equal(head.data + HTTP1_CACHED_DATE_AT,
                        "Sun, 06 Nov 1994 08:49:37 GMT\r\n", 31);
}

TEST(a_type_is_set_only_where_there_is_one_that_may_change)
{
    edit(HEAD_SET, "content-type: text/plain");
    assert_makes("Content-Type: text/html\r\n", "content-type: text/plain\r\n",
                 false);
    assert_makes("ETag: \"1\"\r\n", "ETag: \"1\"\r\n", false);
    assert_makes("Content-Type: text/html\r\n", "Content-Type: text/html\r\n",
                 true);
    assert_makes("Content-Type: multipart/byteranges; boundary=b\r\n",
                 "Content-Type: multipart/byteranges; boundary=b\r\n", false);
}

TEST(the_type_that_is_set_last_is_known)
{
    struct bytes mime = BYTES("a/b");

    assert_ptr_equal(head_edits_type(NULL, mime).data, mime.data);
    assert_ptr_equal(head_edits_type(&edits, mime).data, mime.data);
    edit(HEAD_SET, "Content-Type: c/d");
    edit(HEAD_SET, "Content-Language: en");
    assert_true(bytes_eq(head_edits_type(&edits, mime), BYTES("c/d")));
    edit(HEAD_SET, "CONTENT-TYPE: e/f");
    assert_true(bytes_eq(head_edits_type(&edits, mime), BYTES("e/f")));
}

TEST(what_the_server_alone_can_know_is_refused)
{
    static const char *const names[] = {"Connection",       "content-length",
                                        "CONTENT-RANGE",    "Date",
                                        "Keep-Alive",       "Trailer",
                                        "Proxy-Connection", "Upgrade",
                                        "Transfer-Encoding"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char text[100];

        snprintf(text, sizeof(text), "%s: 1", names[i]);
        assert_non_null(head_edits_add(&edits, HEAD_SET, bytes_of(text)));
        assert_non_null(head_edits_add(&edits, HEAD_ADD, bytes_of(text)));
        assert_non_null(head_edits_add(&edits, HEAD_REMOVE,
                                       bytes_of(names[i])));
    }
    assert_non_null(head_edits_add(&edits, HEAD_ADD,
                                   BYTES("Content-Type: a/b")));
    assert_non_null(head_edits_add(&edits, HEAD_REMOVE, BYTES("Content-Type")));
    assert_int_equal(edits.count, 0);
}

TEST(what_could_end_a_line_or_a_name_is_refused)
{
    static const struct {
        enum head_edit_kind kind;
        struct bytes text;
    } cases[] = {
        {HEAD_SET, {"A: b\r\nEvil: c", 13}},
        {HEAD_SET, {"A: b\nc", 6}},
        {HEAD_ADD, {"A: b\0c", 6}},
        {HEAD_ADD, {"A: \x7F", 4}},
        {HEAD_ADD, {"A\r\nB: c", 7}},
        {HEAD_SET, {"A b: c", 6}},
        {HEAD_SET, {"A : c", 5}},
        {HEAD_SET, {": c", 3}},
        {HEAD_SET, {"A", 1}},
        {HEAD_SET, {"", 0}},
        {HEAD_SET, {"A:", 2}},
        {HEAD_SET, {"A: \t ", 5}},
        {HEAD_SET, {"\xC3\xA9: c", 5}},
        {HEAD_REMOVE, {"A: b", 4}},
        {HEAD_REMOVE, {"", 0}},
        {HEAD_REMOVE, {"A B", 3}},
        {HEAD_REMOVE, {"A\0", 2}},
        {HEAD_SET, {NULL, 0}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (!head_edits_add(&edits, cases[i].kind, cases[i].text))
            fail_msg("case %zu is taken", i);
    assert_int_equal(edits.count, 0);
}

TEST(values_may_have_colons_tabs_and_any_script)
{
    edit(HEAD_SET, "A: b:c\td \xC3\xA9");
    assert_makes("", "A: b:c\td \xC3\xA9\r\n", false);
}

TEST(there_is_a_limit_to_number_and_length)
{
    static char name[HEAD_EDIT_NAME_MAX + 2];
    static char value[HEAD_EDITS_BYTES_MAX + 1];

    memset(name, 'n', sizeof(name) - 1);
    assert_non_null(head_edits_add(&edits, HEAD_REMOVE, bytes_of(name)));
    name[HEAD_EDIT_NAME_MAX] = '\0';
    edit(HEAD_REMOVE, name);
    memset(value, 'v', sizeof(value) - 1); /* "A: v", CRLF: 5 more than v */
    memcpy(value, "A:", 2);
    assert_non_null(head_edits_add(&edits, HEAD_SET,
                                   (struct bytes){value,
                                                  HEAD_EDITS_BYTES_MAX - 2}));
    assert_null(head_edits_add(&edits, HEAD_SET,
                               (struct bytes){value,
                                              HEAD_EDITS_BYTES_MAX - 3}));
    assert_non_null(head_edits_add(&edits, HEAD_SET, BYTES("B: c")));
    while (edits.count < HEAD_EDITS_MAX)
        edit(HEAD_REMOVE, "B");
    assert_non_null(head_edits_add(&edits, HEAD_REMOVE, BYTES("B")));
}

SUITE(.each_begin = set_up);
