/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc */
#include "unit/files/file_cache_fixture.h"
#include "unit/says.h"

/* The head of the entry as text, to be seen until the next call. */
static const char *head_of(const struct file_entry *entry)
{
    static char text[4096];

    assert_in_range(entry->head_len, 1, sizeof(text) - 1);
    memcpy(text, entry->block, entry->head_len);
    text[entry->head_len] = '\0';
    return text;
}

/* --- Kinds --------------------------------------------------------------- */

TEST(what_a_path_leads_to_is_told_apart)
{
    static const struct {
        const char *path;
        enum file_kind kind;
    } cases[] = {{"/file", FILE_REGULAR},      {"/file/", FILE_MISSING},
                 {"/folder", FILE_DIRECTORY},  {"/folder/", FILE_DIRECTORY},
                 {"/indexed", FILE_DIRECTORY}, {"/indexed/", FILE_REGULAR},
                 {"/odd/", FILE_DIRECTORY},    {"/", FILE_DIRECTORY},
                 {"/none", FILE_MISSING},      {"/none/", FILE_MISSING},
                 {"/file/x", FILE_MISSING},    {"/fifo", FILE_FORBIDDEN},
                 {"/out", FILE_FORBIDDEN},     {"/loop", FILE_FORBIDDEN}};

    write_file("file", "text");
    mkdirat(place.fd, "folder", 0755);
    mkdirat(place.fd, "indexed", 0755);
    write_file("indexed/index.html", "index");
    mkdirat(place.fd, "odd", 0755);
    mkdirat(place.fd, "odd/index.html", 0755);
    mkfifoat(place.fd, "fifo", 0644);
    assert_int_equal(symlinkat("../..", place.fd, "out"), 0);
    assert_int_equal(symlinkat("loop", place.fd, "loop"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (kind_of(cases[i].path) != cases[i].kind)
            fail_msg("%s is not %d", cases[i].path, cases[i].kind);
}

TEST(errors_become_kinds)
{
    static const struct {
        int err;
        enum file_kind kind;
    } cases[] = {{ENOENT, FILE_MISSING},       {ENOTDIR, FILE_MISSING},
                 {ENAMETOOLONG, FILE_MISSING}, {EACCES, FILE_FORBIDDEN},
                 {EPERM, FILE_FORBIDDEN},      {EXDEV, FILE_FORBIDDEN},
                 {ELOOP, FILE_FORBIDDEN},      {EIO, FILE_BROKEN},
                 {ENOMEM, FILE_BROKEN},        {EAGAIN, FILE_BROKEN}};

    write_file("file", "text");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lookup_errno = cases[i].err;
        lookup_failures_left = 100;
        remake();
        assert_int_equal(kind_of("/file"), cases[i].kind);
    }
}

TEST(a_path_too_long_for_a_name_is_missing)
{
    char path[8300];

    memset(path, 'x', sizeof(path));
    for (size_t i = 0; i < sizeof(path); i += 100)
        path[i] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(kind_of(path), FILE_MISSING);
}

/* --- Bodies -------------------------------------------------------------- */

TEST(files_up_to_the_limit_are_snapshots)
{
    for (off_t bytes = 0; bytes <= SNAPSHOT_BYTES + 1; bytes++) {
        bool is_small = bytes <= SNAPSHOT_BYTES;
        struct file_entry *entry;

        write_zeros("file", bytes);
        entry = acquire("/file");
        assert_int_equal(entry->is_snapshot, is_small);
        assert_int_equal(entry->fd >= 0, !is_small);
        assert_int_equal(entry->stamp.bytes, bytes);
        assert_null(entry->map);
        if (is_small)
            for (off_t i = 0; i < bytes; i++)
                assert_int_equal(file_entry_body(entry).data[i], 0);
        file_cache_forget(cache, entry);
        file_entry_release(entry);
    }
}

TEST(other_methods_keep_descriptor_or_mapping)
{
    static const enum send_method methods[] = {SEND_MMAP, SEND_SENDFILE,
                                               SEND_READ};

    write_file("file", "text");
    write_file("empty", "");
    for (int i = 0; i < 3; i++) {
        struct file_entry *entry;

        options.send_method = methods[i];
        remake();
        entry = acquire("/file");
        assert_false(entry->is_snapshot);
        assert_true(entry->fd >= 0);
        assert_int_equal(entry->map != NULL, methods[i] == SEND_MMAP);
        if (entry->map)
            assert_memory_equal(entry->map, "text", 4);
        file_entry_release(entry);
        assert_int_equal(kind_of("/empty"), FILE_REGULAR);
    }
}

static void change_once(void)
{
    after_pread = NULL;
    write_file("file", "longer text");
}

TEST(a_file_that_changes_while_read_is_read_again)
{
    struct file_entry *entry;

    write_file("file", "text");
    after_pread = change_once;
    entry = acquire("/file");
    assert_body(entry, "longer text");
    assert_has(head_of(entry), "\r\nContent-Length: 11\r\n");
    file_entry_release(entry);
}

static void change_always(void)
{
    static char text[] = "text 0";

    text[5] = (char)(text[5] == '9' ? '0' : text[5] + 1);
    write_file("file", text);
    assert_int_equal(place_set_time(&place, "file", text[5]), 0);
}

TEST(a_file_that_never_rests_is_no_snapshot)
{
    struct file_entry *entry;

    write_file("file", "text 0");
    after_pread = change_always;
    entry = acquire("/file");
    after_pread = NULL;
    assert_int_equal(entry->kind, FILE_REGULAR);
    assert_false(entry->is_snapshot);
    assert_true(entry->fd >= 0);
    assert_true(file_entry_is_intact(entry));
    file_entry_release(entry);
}

static void outgrow(void)
{
    after_pread = NULL;
    write_zeros("file", SNAPSHOT_BYTES + 1);
}

TEST(a_file_that_outgrows_a_snapshot_meanwhile_is_none)
{
    struct file_entry *entry;

    write_file("file", "text");
    after_pread = outgrow;
    entry = acquire("/file");
    assert_false(entry->is_snapshot);
    assert_int_equal(entry->stamp.bytes, SNAPSHOT_BYTES + 1);
    assert_has(head_of(entry), "\r\nContent-Length: 101\r\n");
    file_entry_release(entry);
}

/* --- Intact -------------------------------------------------------------- */

TEST(an_open_file_is_intact_until_it_changes)
{
    struct file_entry *entry;

    write_zeros("large", 1000);
    entry = acquire("/large");
    assert_true(file_entry_is_intact(entry));
    assert_int_equal(renameat(place.fd, "large", place.fd, "other"), 0);
    assert_true(file_entry_is_intact(entry));
    assert_int_equal(truncate(place_path(&place, "other"), 999), 0);
    assert_false(file_entry_is_intact(entry));
    assert_int_equal(truncate(place_path(&place, "other"), 1000), 0);
    assert_int_equal(place_set_time(&place, "other", 1000), 0);
    assert_false(file_entry_is_intact(entry));
    file_entry_release(entry);
}

TEST(a_file_that_was_removed_is_intact)
{
    struct file_entry *entry;

    write_zeros("large", 1000);
    entry = acquire("/large");
    unlinkat(place.fd, "large", 0);
    assert_true(file_entry_is_intact(entry));
    file_entry_release(entry);
}

TEST(a_snapshot_is_always_intact)
{
    struct file_entry *entry;

    write_file("file", "text");
    entry = acquire("/file");
    write_file("file", "other");
    assert_true(file_entry_is_intact(entry));
    assert_body(entry, "text");
    file_entry_release(entry);
}

/* --- Heads --------------------------------------------------------------- */

TEST(a_head_says_all_about_the_file)
{
    struct file_entry *entry;

    now.wall_s = 1700000000;
    now.wall_ns = now.wall_s * 1000000000;
    space.cache_control = BYTES("max-age=60");
    options.defaults.server_field = true;
    remake();
    write_file("file.html", "text");
    assert_int_equal(place_set_time(&place, "file.html", 784111777), 0);
    entry = acquire("/file.html");
    assert_string_equal(head_of(entry),
                        "HTTP/1.1 200 OK\r\n"
                        "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
                        "Server: sprintd\r\n"
                        "X-Content-Type-Options: nosniff\r\n"
                        "Content-Type: text/html; charset=utf-8\r\n"
                        "Content-Length: 4\r\n"
                        "Accept-Ranges: bytes\r\n"
                        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                        "ETag: \"ae1b981bc490a00-4\"\r\n"
                        "Cache-Control: max-age=60\r\n");
    assert_memory_equal(entry->block + entry->head_len, "\r\ntext", 6);
    assert_memory_equal(file_entry_fields(entry).data, "Last-Modified", 13);
    assert_ptr_equal(file_entry_fields(entry).data +
                         file_entry_fields(entry).len,
                     entry->block + entry->head_len);
    file_entry_release(entry);
}

TEST(the_date_of_a_head_follows_the_second)
{
    struct file_entry *entry;
    struct bytes head;

    now.wall_s = 1700000000;
    write_file("file", "text");
    entry = acquire("/file");
    head = file_entry_head(entry, &now);
    assert_int_equal(head.len, entry->head_len);
    assert_has(head_of(entry), "\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n");
    now.wall_s++;
    file_entry_head(entry, &now);
    assert_has(head_of(entry), "\r\nDate: Tue, 14 Nov 2023 22:13:21 GMT\r\n");
    assert_body(entry, "text");
    file_entry_release(entry);
}

TEST(a_coded_file_says_so_and_has_a_tag_of_its_own)
{
    struct file_entry *plain;
    struct file_entry *coded;

    write_file("file.css", "text");
    write_file("file.css.gz", "zipp");
    assert_int_equal(place_set_time(&place, "file.css", 1000), 0);
    assert_int_equal(place_set_time(&place, "file.css.gz", 1000), 0);
    plain = acquire("/file.css");
    coded = acquire_coded("/file.css", CODING_GZIP);
    assert_has(head_of(plain), "\r\nVary: Accept-Encoding\r\n");
    assert_has_not(head_of(plain), "Content-Encoding");
    assert_has(head_of(coded), "\r\nVary: Accept-Encoding\r\n");
    assert_has(head_of(coded), "\r\nContent-Encoding: gzip\r\n");
    assert_has(head_of(coded), "\r\nContent-Type: text/css");
    assert_has(head_of(plain), "\r\nETag: \"e8d4a51000-4\"\r\n");
    assert_has(head_of(coded), "\r\nETag: \"e8d4a51000-4-gz\"\r\n");
    file_entry_release(plain);
    file_entry_release(coded);
}

TEST(a_time_in_the_future_is_not_told)
{
    struct file_entry *entry;

    write_file("file", "text");
    assert_int_equal(place_set_time(&place, "file", now.wall_s + 1), 0);
    entry = acquire("/file");
    assert_has_not(head_of(entry), "Last-Modified");
    assert_has(head_of(entry), "ETag");
    assert_true(entry->modified_s == INT64_MIN);
    file_entry_release(entry);
}

TEST(two_caches_give_one_version_the_same_tag)
{
    struct file_cache *other = file_cache_create(&options);
    struct file_entry *mine;
    struct file_entry *its;

    assert_non_null(other);
    write_file("file", "text");
    for (int i = 0; i < 2; i++) {
        pass_check();
        mine = acquire("/file");
        its = file_cache_acquire(other, &space, BYTES("/file"),
                                 CODING_IDENTITY);
        assert_true(bytes_eq(mine->etag, its->etag));
        write_file("file", "longer");
        file_entry_release(its);
        file_entry_release(mine);
    }
    file_cache_destroy(other);
}

TEST(another_time_or_size_makes_another_tag)
{
    static const char *const texts[] = {"text", "text", "longer"};
    struct file_entry *entries[3];

    for (int i = 0; i < 3; i++) {
        write_file("file", texts[i]);
        assert_int_equal(place_set_time(&place, "file", i == 0 ? 1 : 2), 0);
        pass_check();
        entries[i] = acquire("/file");
        for (int before = 0; before < i; before++)
            assert_false(bytes_eq(entries[i]->etag, entries[before]->etag));
    }
    for (int i = 0; i < 3; i++)
        file_entry_release(entries[i]);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
