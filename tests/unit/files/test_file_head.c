/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc */
#include "http/http1/http1_frame.h"

#include "unit/files/file_cache_fixture.h"

/* The cache's files with what an operator wants otherwise in their heads. */

static struct head_edits edits;
static struct cache_rules rules;

static int set_up_edits(void **state)
{
    edits = (struct head_edits){0};
    rules = (struct cache_rules){0};
    if (set_up(state) != 0)
        return -1;
    write_file("file.css", "0123456789");
    if (mkdirat(place.fd, "folder", 0755) != 0)
        return -1;
    write_file("folder/index.html", "index");
    space.edits = &edits;
    space.cache_rules = &rules;
    space.cache_control = BYTES("max-age=1");
    return 0;
}

static void edit(enum head_edit_kind kind, const char *text)
{
    assert_null(head_edits_add(&edits, kind, bytes_of(text)));
}

static bool has(struct bytes text, const char *part)
{
    return memmem(text.data, text.len, part, strlen(part));
}

TEST(a_head_has_the_edits_and_the_body_is_where_it_was)
{
    struct file_entry *entry;
    struct bytes head;

    edit(HEAD_SET, "X-Frame-Options: DENY");
    edit(HEAD_REMOVE, "Last-Modified");
    remake();
    entry = acquire("/file.css");
    head = file_entry_head(entry, &now);
    assert_true(has(head, "\r\nX-Frame-Options: DENY\r\n"));
    assert_false(has(head, "Last-Modified"));
    assert_memory_equal(head.data + head.len, "\r\n0123456789", 12);
    assert_body(entry, "0123456789");
    file_entry_release(entry);
}

TEST(the_date_of_an_edited_head_follows_the_second)
{
    struct file_entry *entry;
    char date[30] = "";
    struct bytes head;

    edit(HEAD_REMOVE, "X-Content-Type-Options");
    remake();
    entry = acquire("/file.css");
    now.wall_s = 784111777;
    head = file_entry_head(entry, &now);
    memcpy(date, head.data + HTTP1_CACHED_DATE_AT, 29);
    assert_string_equal(date, "Sun, 06 Nov 1994 08:49:37 GMT");
    file_entry_release(entry);
}

/* Who makes a 304 of them edits that. */
TEST(the_fields_for_other_heads_are_not_edited)
{
    struct file_entry *entry;
    struct bytes fields;

    edit(HEAD_SET, "Cache-Control: no-store");
    edit(HEAD_REMOVE, "ETag");
    edit(HEAD_ADD, "A: b");
    remake();
    entry = acquire("/file.css");
    fields = file_entry_fields(entry);
    assert_true(has(fields, "\r\nETag: \""));
    assert_true(has(fields, "\r\nCache-Control: max-age=1\r\n"));
    assert_false(has(fields, "A: b"));
    assert_memory_equal(fields.data, "Last-Modified: ", 15);
    assert_memory_equal(fields.data + fields.len - 2, "\r\n", 2);
    assert_false(has(file_entry_head(entry, &now), "max-age"));
    file_entry_release(entry);
}

TEST(a_type_that_is_set_is_that_of_the_entry)
{
    struct file_entry *entry;

    edit(HEAD_SET, "Content-Type: a/b");
    remake();
    entry = acquire("/file.css");
    assert_true(bytes_eq(entry->type, BYTES("a/b")));
    assert_true(has(file_entry_head(entry, &now), "\r\nContent-Type: a/b\r\n"));
    assert_false(has(file_entry_head(entry, &now), "text/css"));
    file_entry_release(entry);
}

TEST(open_files_have_edited_heads_too)
{
    struct file_entry *entry;

    edit(HEAD_ADD, "A: b");
    options.send_method = SEND_SENDFILE;
    remake();
    entry = acquire("/file.css");
    assert_false(entry->is_snapshot);
    assert_true(has(file_entry_head(entry, &now), "\r\nA: b\r\n"));
    assert_true(has(file_entry_fields(entry), "ETag"));
    file_entry_release(entry);
}

TEST(cache_control_is_that_of_the_rule_or_the_default)
{
    static const struct {
        const char *path;
        const char *field;
    } cases[] = {
        {"/file.css", "\r\nCache-Control: immutable\r\n"},
        {"/folder/", "\r\nCache-Control: no-cache\r\n"},
        {"/folder/index.html", "\r\nCache-Control: no-cache\r\n"},
        {"/other", "\r\nCache-Control: max-age=1\r\n"},
    };

    write_file("other", "");
    assert_null(cache_rules_add(&rules, BYTES("/file.* immutable")));
    assert_null(cache_rules_add(&rules, BYTES("index.html no-cache")));
    remake();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct file_entry *entry = acquire(cases[i].path);

        if (!has(file_entry_head(entry, &now), cases[i].field) ||
            !has(file_entry_fields(entry), cases[i].field))
            fail_msg("%s has no '%s'", cases[i].path, cases[i].field);
        file_entry_release(entry);
    }
}

TEST(no_memory_for_an_edited_head_is_told)
{
    edit(HEAD_ADD, "A: b");
    remake();
    allocations_left = 0;
    assert_null(file_cache_acquire(cache, &space, BYTES("/file.css"),
                                   CODING_IDENTITY));
    allocations_left = -1;
    assert_serves("/file.css", "0123456789");
}

SUITE(.each_begin = set_up_edits, .each_end = tear_down);
