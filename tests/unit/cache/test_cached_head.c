#include "cache/cached_head.h"

#include "suite.h"

static struct buf out, hidden;

static int set_up(void **state)
{
    (void)state;
    buf_init(&out, NULL, 0, 65536);
    buf_init(&hidden, NULL, 0, 65536);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    buf_fini(&hidden);
    return 0;
}

SUITE(.each_begin = set_up, .each_end = tear_down);

static void assert_says(const struct buf *buf, const char *wanted)
{
    if (!bytes_eq(buf_bytes(buf), bytes_of(wanted)))
        fail_msg("'%.*s', not '%s'", (int)buf->len, buf->data, wanted);
}

TEST(lines_are_taken_one_by_one)
{
    struct bytes lines = BYTES("A: 1\r\nb:  two \r\nnothing\r\nC:\r\n");
    struct cached_line line;

    assert_true(cached_head_next(&lines, &line));
    assert_true(bytes_eq(line.name, BYTES("A")));
    assert_true(bytes_eq(line.value, BYTES("1")));
    assert_true(cached_head_next(&lines, &line));
    assert_true(bytes_eq(line.value, BYTES("two")));
    assert_true(cached_head_next(&lines, &line));
    assert_true(bytes_eq(line.name, BYTES("C")));
    assert_int_equal(line.value.len, 0);
    assert_false(cached_head_next(&lines, &line));
}

TEST(what_is_about_one_answer_is_not_kept)
{
    const struct cache_control control = {.private_fields = BYTES("b, x"),
                                          .no_cache_fields = BYTES("d")};

    cached_head_keep(BYTES("Age: 5\r\nA: 1\r\ncontent-length: 7\r\n"
                           "Surrogate-Control: max-age=5\r\nB: 2\r\nC: 3\r\n"
                           "D: 4\r\n"),
                     &control, &out, &hidden);
    assert_says(&out, "A: 1\r\nC: 3\r\n");
    assert_says(&hidden, "Surrogate-Control: max-age=5\r\n");
}

TEST(a_304_brings_all_up_to_date_but_what_describes_the_bytes)
{
    cached_head_update(BYTES("A: 1\r\nA: 2\r\nB: 3\r\nETag: \"a\"\r\n"
                             "Content-Encoding: br\r\n"),
                       BYTES("a: 4\r\nETag: \"b\"\r\nD: 5\r\nAge: 6\r\n"
                             "Content-Encoding: gzip\r\nContent-Length: 0\r\n"),
                       &out);
    assert_says(&out, "B: 3\r\nETag: \"a\"\r\nContent-Encoding: br\r\n"
                      "a: 4\r\nD: 5\r\nAge: 6\r\n");
}

TEST(the_cookie_of_a_304_is_for_who_asked_and_ends_the_one_that_was_kept)
{
    const struct cache_control control = {.private_fields = BYTES("x")};
    struct bytes fresh = BYTES("A: 2\r\nset-cookie: b=2\r\nSet-Cookie2: c\r\n"
                               "X: 3\r\n");

    cached_head_update(BYTES("A: 1\r\nSet-Cookie: a=1\r\n"), fresh, &out);
    assert_says(&out, "A: 2\r\nX: 3\r\n");
    out.len = 0;
    cached_head_update(BYTES("Set-Cookie: a=1\r\n"), BYTES("A: 2\r\n"), &out);
    assert_says(&out, "Set-Cookie: a=1\r\nA: 2\r\n");
    out.len = 0;
    cached_head_put_own(fresh, &control, true, &out);
    assert_says(&out, "set-cookie: b=2\r\nSet-Cookie2: c\r\nX: 3\r\n");
    out.len = 0;
    cached_head_put_own(fresh, &control, false, &out);
    assert_says(&out, "X: 3\r\n");
}

/* How the answer is sent is said for it anew. */
TEST(what_frames_an_answer_is_nobodys_own)
{
    const struct cache_control control = {
        .private_fields = BYTES("content-length, age, x")};

    cached_head_put_own(BYTES("Content-Length: 1\r\nAge: 2\r\nX: 3\r\n"),
                        &control, false, &out);
    assert_says(&out, "X: 3\r\n");
}

TEST(what_a_304_says_of_validity_is_told_from_all_else)
{
    cached_head_put_validity(BYTES("X-User: joe\r\nETag: \"a\"\r\n"
                                   "cache-control: no-cache\r\nVia: b\r\n"
                                   "Set-Cookie: c=d\r\nLink: <e>\r\n"),
                             &out);
    assert_says(&out, "ETag: \"a\"\r\ncache-control: no-cache\r\n"
                      "Set-Cookie: c=d\r\n");
}

TEST(a_304_has_what_it_must_and_nothing_about_the_body)
{
    cached_head_put_not_modified(BYTES("Content-Type: a/b\r\nETag: \"a\"\r\n"
                                       "Set-Cookie: a=b\r\nvary: c\r\n"),
                                 &out);
    assert_says(&out, "ETag: \"a\"\r\nvary: c\r\n");
}

TEST(what_describes_the_bytes_of_one_answer_is_not_put_for_a_part)
{
    cached_head_put_for_part(BYTES("A: 1\r\ncontent-range: bytes 0-4/9\r\n"
                                   "Content-Digest: sha-256=:x:\r\n"
                                   "Repr-Digest: sha-256=:y:\r\n"
                                   "Content-MD5: z\r\nB: 2\r\n"),
                             &out);
    assert_says(&out, "A: 1\r\nRepr-Digest: sha-256=:y:\r\nB: 2\r\n");
}
