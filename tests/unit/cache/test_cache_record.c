#include "cache/cache_record.h"

#include <stdlib.h>

#include "suite.h"

SUITE(.begin = NULL);

static struct cache_entry *make_entry(void)
{
    const struct cache_circumstances when = {
        .asked_s = 1000, .came_s = 1005, .surrogate = BYTES("sprintd")};
    struct cache_entry_parts parts = {
        .key = BYTES("/\nhttp://a/b"),
        .names = BYTES("foo"),
        .variant = BYTES("1"),
        .status = 203,
        .phrase = BYTES("So So"),
        .lines = BYTES("Cache-Control: max-age=60, private=\"X-P\"\r\n"
                       "CDN-Cache-Control: max-age=77\r\n"
                       "Age: 5\r\nX-P: secret\r\n"
                       "ETag: \"v\"\r\n"
                       "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
        .cost_ms = 12};

    return cache_entry_create(&parts, &when);
}

TEST(an_entry_is_the_same_when_it_is_read_again)
{
    struct cache_entry *entry = make_entry(), *read;
    struct buf record;

    entry->has_body = true;
    atomic_store(&entry->is_purged, true);
    buf_init(&record, NULL, 0, 10000);
    cache_record_put(entry, &record);
    read = cache_record_read(buf_bytes(&record), BYTES("sprintd"));
    assert_non_null(read);
    assert_true(bytes_eq(read->key, entry->key));
    assert_true(bytes_eq(read->names, entry->names));
    assert_true(bytes_eq(read->variant, entry->variant));
    assert_true(bytes_eq(read->phrase, entry->phrase));
    assert_true(bytes_eq(read->lines, entry->lines));
    assert_true(bytes_eq(read->hidden, entry->hidden));
    assert_true(bytes_eq(read->facts.etag, entry->facts.etag));
    assert_true(bytes_eq(read->facts.modified, entry->facts.modified));
    assert_int_equal(read->facts.status, 203);
    assert_int_equal(read->facts.born_s, entry->facts.born_s);
    assert_int_equal(read->facts.lifetime_s, 77);
    assert_int_equal(read->facts.date_s, entry->facts.date_s);
    assert_int_equal(read->facts.control.max_age, 77);
    assert_true(read->facts.is_targeted);
    assert_int_equal(read->cost_ms, 12);
    assert_true(read->has_body);
    assert_true(atomic_load(&read->is_purged));
    cache_entry_release(&read);
    cache_entry_release(&entry);
    buf_fini(&record);
}

TEST(what_is_no_record_is_refused)
{
    struct cache_entry *entry = make_entry(), *read;
    struct buf record;

    buf_init(&record, NULL, 0, 10000);
    cache_record_put(entry, &record);
    for (size_t len = 0; len < record.len; len++) {
        char *text = malloc(len + 1); /* a byte beyond it is a fault */

        memcpy(text, record.data, len);
        assert_null(cache_record_read((struct bytes){text, len}, BYTES("x")));
        free(text);
    }
    buf_put_literal(&record, "x");
    read = cache_record_read(buf_bytes(&record), BYTES("x"));
    assert_null(read);
    cache_entry_release(&entry);
    buf_fini(&record);
}
