#include "unit/handler/files_fixture.h"

/* Files whose heads an operator wants otherwise: every answer of theirs. */

static struct head_edits made;

static int set_up_edits(void **state)
{
    made = (struct head_edits){0};
    if (head_edits_add(&made, HEAD_SET, BYTES("Cache-Control: no-store")) ||
        head_edits_add(&made, HEAD_ADD, BYTES("Added: once")) ||
        head_edits_add(&made, HEAD_REMOVE, BYTES("Last-Modified")) ||
        head_edits_add(&made, HEAD_SET, BYTES("Content-Type: text/x")) ||
        set_up(state) != 0)
        return -1;
    edits = options.space.edits = &made;
    options.space.cache_control = BYTES("max-age=5");
    remake();
    return 0;
}

/* Whether the edits have been made, each of them once. */
static void assert_edited(unsigned status)
{
    const char *added;

    assert_int_equal(answer.status, status);
    assert_has("\r\nCache-Control: no-store\r\n");
    assert_has("\r\nAdded: once\r\n");
    added = strstr(answer.text, "Added");
    assert_null(strstr(added + 1, "Added"));
    assert_has_not("max-age");
    assert_has_not("Last-Modified");
}

TEST(a_whole_file_has_the_edits)
{
    get("/file.txt", "");
    assert_edited(200);
    assert_has("\r\nContent-Type: text/x\r\n");
    assert_body("0123456789");
    get("/file.txt", "");
    assert_edited(200);
    assert_body("0123456789");
    get("/large", "");
    assert_edited(200);
    assert_int_equal(answer.body_len, LARGE_BYTES);
    assert_memory_equal(answer.body, large_bytes, LARGE_BYTES);
}

TEST(a_304_has_them_and_no_type)
{
    char fields[200];

    snprintf(fields, sizeof(fields), "If-None-Match: %s\r\n",
             etag_of("/file.txt"));
    get("/file.txt", fields);
    assert_edited(304);
    assert_has("\r\nETag: ");
    assert_has_not("Content-Type:");
}

TEST(a_range_has_them)
{
    get("/file.txt", "Range: bytes=2-4\r\n");
    assert_edited(206);
    assert_has("\r\nContent-Type: text/x\r\n");
    assert_has("\r\nContent-Range: bytes 2-4/10\r\n");
    assert_body("234");
}

TEST(ranges_keep_the_type_that_frames_them)
{
    get("/file.txt", "Range: bytes=0-0,5-5\r\n");
    assert_edited(206);
    assert_has("\r\nContent-Type: multipart/byteranges; boundary=");
    assert_non_null(strstr(answer.body, "\r\nContent-Type: text/x\r\n"));
}

TEST(errors_and_redirects_have_them_and_keep_their_type)
{
    get("/none", "");
    assert_edited(404);
    assert_has("\r\nContent-Type: text/html; charset=utf-8\r\n");
    get("/folder", "");
    assert_edited(301);
    get("/file.txt", "Range: bytes=99-\r\n");
    assert_edited(416);
    ask("OPTIONS /file.txt HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_edited(204);
    assert_has_not("Content-Type:");
}

SUITE(.each_begin = set_up_edits, .each_end = tear_down);
