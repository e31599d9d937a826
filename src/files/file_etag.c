#include <stdio.h>

#include "files/file_cache_priv.h"

/*
 * The ETags of one version of a file, and of the coded bodies made of it:
 *
 *   "time-length"               the file itself
 *   "time-length-gz"            a sibling on disk, by its own time and length
 *   "times-length.hash-gzip"    a variant or a delta: the version of the file,
 *   '-- version -' '-- make --' then the hash and the coding of the body
 *
 * Some release tools set the dates of all files to the same time. The version
 * differs all the same: it is computed from the time of the last change, too,
 * which nobody can set.
 *
 * With another version of a library, or with more effort, the coded body of the
 * same file has other bytes. The hash makes the tag strong nevertheless. A
 * client that names such a tag has this version of the file, and gets 304. It
 * does not matter whether its variant exists now, or has the same bytes.
 */

/* --- Writing ------------------------------------------------------------- */

/* Two changes of a file with the same date never give the same version, since
 * the odd factor maps different change times to different numbers. */
static int write_version(const struct file_stamp *stamp, uint64_t bytes,
                         char *to, size_t room)
{
    uint64_t times = (uint64_t)stamp->modified_ns +
                     (uint64_t)stamp->changed_ns * 0x9e3779b97f4a7c15u;

    return snprintf(to, room, "\"%llx-%llx", (unsigned long long)times,
                    (unsigned long long)bytes);
}

static void write_made(struct file_entry *entry, struct bytes token)
{
    size_t room = sizeof(entry->etag_text);
    int len = write_version(&entry->stamp, entry->plain_bytes, entry->etag_text,
                            room);

    len += snprintf(entry->etag_text + len, room - (size_t)len, ".%llx-%.*s\"",
                    (unsigned long long)entry->coded->hash, (int)token.len,
                    token.data);
    entry->etag = (struct bytes){entry->etag_text, (size_t)len};
}

void file_entry_write_etag(struct file_entry *entry)
{
    struct bytes suffix = coding_suffix(entry->coding);
    int len;

    if (entry->coded) {
        write_made(entry, coding_token(entry->coding));
        return;
    }
    /* ".gz" becomes "-gz": a coded file is another representation, even when
     * size and time happen to agree. */
    len = snprintf(entry->etag_text, sizeof(entry->etag_text),
                   "\"%llx-%llx%s%.*s\"",
                   (unsigned long long)entry->stamp.modified_ns,
                   (unsigned long long)entry->stamp.bytes,
                   suffix.len > 0 ? "-" : "",
                   suffix.len > 0 ? (int)suffix.len - 1 : 0,
                   suffix.len > 0 ? suffix.data + 1 : "");
    entry->etag = (struct bytes){entry->etag_text, (size_t)len};
}

/* --- Reading ------------------------------------------------------------- */

/* Takes the next of a list of ETags, with its quotes. Returns false when there
 * is none. */
static bool take_tag(struct bytes *list, struct bytes *tag_out)
{
    const char *end = list->data + list->len;
    const char *begin = memchr(list->data, '"', list->len);
    const char *close = begin
                            ? memchr(begin + 1, '"', (size_t)(end - begin) - 1)
                            : NULL;

    if (!close)
        return false;
    *tag_out = bytes_between(begin, close + 1);
    *list = bytes_between(close + 1, end);
    return true;
}

static bool take_hexadecimal(struct bytes *text)
{
    size_t len = 0;

    while (len < text->len && len < 16 &&
           (byte_is_digit(text->data[len]) ||
            (text->data[len] >= 'a' && text->data[len] <= 'f')))
        len++;
    text->data += len;
    text->len -= len;
    return len > 0;
}

/* Whether `make`, a result of make_of(), names one of `codings`. */
static bool is_made(struct bytes make, unsigned codings)
{
    if (make.len > 0)
        make.len--; /* without the quote */
    if (!bytes_take(&make, BYTES(".")) || !take_hexadecimal(&make) ||
        !bytes_take(&make, BYTES("-")))
        return false;
    for (int i = CODING_IDENTITY + 1; i <= CODING_DCZ; i++)
        if (codings & 1u << i && bytes_eq(make, coding_token((enum coding)i)))
            return true;
    return false;
}

/* Returns the part of a tag behind the version: the dot and what follows it.
 * Returns an empty text when there is no dot. */
static struct bytes make_of(struct bytes tag)
{
    const char *end = tag.data + tag.len;
    const char *dot = memchr(tag.data, '.', tag.len);

    return bytes_between(dot ? dot : end, end);
}

/* Returns true if a cached variant of the entry has a tag that ends in `make`,
 * and so has the bytes that `make` names. `make` may be from a tag of another
 * version of the file. */
static bool is_there(const struct file_entry *entry, struct bytes make)
{
    for (int i = CODING_IDENTITY + 1; entry->variants && i < CODING_COUNT;
         i++) {
        const struct file_entry *variant = entry->variants->codings[i].entry;

        if (variant && bytes_eq(make_of(variant->etag), make))
            return true;
    }
    return false;
}

struct bytes file_entry_find_made(const struct file_entry *entry,
                                  struct bytes value, unsigned codings)
{
    char text[FILE_CACHE_ETAG_MAX];
    struct bytes version = {text, (size_t)write_version(&entry->stamp,
                                                        entry->stamp.bytes,
                                                        text, sizeof(text))};
    struct bytes tag;

    while (take_tag(&value, &tag)) {
        struct bytes make = make_of(tag);
        struct bytes named = bytes_between(tag.data, make.data);

        if (tag.len < FILE_CACHE_ETAG_MAX && is_made(make, codings) &&
            (bytes_eq(named, version) || is_there(entry, make)))
            return tag;
    }
    return (struct bytes){NULL, 0};
}
