#include <stdlib.h>

#include "base/units.h"
#include "files/file_entry_priv.h"
#include "http/date.h"
#include "http/http1/http1.h"
#include "http/http1/http1_frame.h"

enum { HEAD_INLINE = 2048 };

struct bytes file_space_name(const struct file_space *space, struct bytes path,
                             char *out)
{
    size_t len;

    if (path.data[path.len - 1] != '/')
        return path;
    len = strlen(space->index);
    memcpy(out, path.data, path.len);
    memcpy(out + path.len, space->index, len);
    return (struct bytes){out, path.len + len};
}

struct bytes file_space_type(const struct file_space *space,
                             const struct mime *mime, struct bytes path)
{
    char out[FILE_NAME_BYTES_MAX];
    struct bytes name = file_space_name(space, path, out);
    struct bytes type = type_rules_find(space->type_rules, name);

    return type.len > 0 ? type : mime_find(mime, name);
}

/* Returns Last-Modified in seconds. Returns INT64_MIN when none is sent: a date
 * in the future must not be sent (RFC 9110 8.8.2.1). */
static int64_t modified_of(const struct file_stamp *stamp,
                           const struct now *now)
{
    int64_t seconds = stamp->modified_ns / NS_PER_S;

    return seconds > 0 && seconds <= now->wall_s ? seconds : INT64_MIN;
}

/* Returns the value of Cache-Control for the entry's path or, for a directory,
 * for the path of its index. Returns an empty text when there is none. */
static struct bytes cache_control_of(const struct file_entry *entry)
{
    const struct file_space *space = entry->space;
    struct bytes path = {entry->path, entry->path_len};
    char name[FILE_NAME_BYTES_MAX];

    if (!space->cache_rules)
        return space->cache_control;
    return cache_rules_find(space->cache_rules,
                            file_space_name(space, path, name), entry->type,
                            space->cache_control);
}

/* Puts the fields that a 206 and a 304 have in common with a 200. */
static void put_fields(struct buf *head, const struct file_entry *entry)
{
    struct bytes cache_control = cache_control_of(entry);

    if (entry->modified_s != INT64_MIN) {
        char date[DATE_LEN];

        date_format(entry->modified_s, date);
        head_field(head, BYTES("Last-Modified"),
                   (struct bytes){date, DATE_LEN});
    }
    head_field(head, BYTES("ETag"), entry->etag);
    if (entry->dictionary_used)
        head_field(head, BYTES("Vary"),
                   BYTES("Accept-Encoding, Available-Dictionary"));
    else if (entry->coding != CODING_IDENTITY || entry->siblings != 0 ||
             entry->codable != 0)
        head_field(head, BYTES("Vary"), BYTES("Accept-Encoding"));
    if (cache_control.len > 0)
        head_field(head, BYTES("Cache-Control"), cache_control);
}

/* Lays out the block: the head, its end, and room for the body. If there are
 * edits, the fields from before the edits are kept behind the body, since edits
 * may remove them from the head. Returns false when there is no memory. */
static bool lay_block(struct file_entry *entry, struct buf *head,
                      size_t fields_at, const struct head_edits *edits,
                      size_t body_bytes)
{
    char storage[HEAD_INLINE];
    struct buf fields;
    size_t end;

    buf_init(&fields, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX);
    if (edits) {
        buf_put(&fields,
                (struct bytes){head->data + fields_at, head->len - fields_at});
        head_edits_apply(edits, head, HTTP1_CACHED_FIELDS_AT, false);
    }
    end = head->len + 2 + body_bytes;
    free(entry->coded_head.data);
    entry->coded_head = (struct coded_head){0};
    free(entry->block);
    entry->block = head->failed || fields.failed ? NULL
                                                 : malloc(end + fields.len);
    if (entry->block) {
        memcpy(entry->block, head->data, head->len);
        memcpy(entry->block + head->len, "\r\n", 2);
        entry->head_len = head->len;
        entry->fields = (struct bytes){entry->block + fields_at,
                                       head->len - fields_at};
        if (edits) {
            entry->fields = (struct bytes){entry->block + end, fields.len};
            memcpy(entry->block + end, fields.data, fields.len);
        }
    }
    buf_fini(&fields);
    return entry->block;
}

bool file_head_forbids_coding(const struct file_entry *entry)
{
    struct bytes head = {entry->block, entry->head_len};

    return head_find(head, HTTP1_CACHED_FIELDS_AT, BYTES("Content-Encoding"))
               .data ||
           compress_is_forbidden_in(head, HTTP1_CACHED_FIELDS_AT);
}

bool file_entry_write_block(struct file_entry *entry,
                            const struct file_cache_options *options,
                            size_t body_bytes)
{
    char storage[HEAD_INLINE];
    struct buf head;
    size_t fields_at;
    bool ok;

    file_entry_write_etag(entry);
    entry->modified_s = modified_of(&entry->stamp, options->defaults.now);
    buf_init(&head, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX);
    http1_begin_cached_head(&head, options->defaults.now);
    head_put_server_defaults(&head, &options->defaults);
    head_field(&head, BYTES("Content-Type"), entry->type);
    head_number(&head, BYTES("Content-Length"), entry->stamp.bytes);
    head_field(&head, BYTES("Accept-Ranges"), BYTES("bytes"));
    if (entry->coding != CODING_IDENTITY)
        head_field(&head, BYTES("Content-Encoding"),
                   coding_token(entry->coding));
    fields_at = head.len;
    put_fields(&head, entry);
    ok = lay_block(entry, &head, fields_at, entry->space->edits, body_bytes);
    entry->dated_s = options->defaults.now->wall_s;
    buf_fini(&head);
    return ok;
}
