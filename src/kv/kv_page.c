#include "kv/kv_page.h"

enum {
    /* The first byte of a cursor. The last key or common prefix of the page
     * follows. */
    BEHIND_KEY = 'k',
    BEHIND_PREFIX = 'p'
};

/* Returns true if `after` is a valid cursor. Clients may send any text. */
static bool is_cursor(struct bytes after)
{
    return after.len == 0 ||
           (after.len >= 2 && after.len <= KV_CURSOR_BYTES_MAX &&
            (*after.data == BEHIND_KEY || *after.data == BEHIND_PREFIX));
}

bool kv_page_begin(struct kv_page *page)
{
    page->entries = NULL;
    page->count = 0;
    page->value_bytes = 0;
    page->has_revision = false;
    page->next = (struct bytes){NULL, 0};
    page->outcome = is_cursor(page->after) ? KV_FOUND : KV_MISSING;
    return page->outcome == KV_FOUND && page->prefix.len <= KV_KEY_BYTES_MAX;
}

struct bytes kv_page_after(const struct kv_page *page, bool *is_prefix_out)
{
    const struct bytes *after = &page->after;

    *is_prefix_out = after->len > 0 && *after->data == BEHIND_PREFIX;
    return after->len > 0 ? (struct bytes){after->data + 1, after->len - 1}
                          : (struct bytes){NULL, 0};
}

int kv_key_compare(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

size_t kv_key_after_prefix(char *out, size_t len)
{
    while (len > 0 && (unsigned char)out[len - 1] == 0xFF)
        len--;
    if (len > 0)
        out[len - 1] = (char)(out[len - 1] + 1);
    return len;
}

bool kv_page_find_common(const struct kv_page *page, struct bytes key,
                         struct bytes *common_out)
{
    const char *found;

    if (page->delimiter.len == 0)
        return false;
    found = memmem(key.data + page->prefix.len, key.len - page->prefix.len,
                   page->delimiter.data, page->delimiter.len);
    if (!found)
        return false;
    *common_out = bytes_between(key.data, found + page->delimiter.len);
    return true;
}

static struct bytes copy_text(struct kv_page *page, struct bytes text)
{
    return (struct bytes){arena_text(&page->arena, text), text.len};
}

bool kv_page_add(struct kv_page *page, const struct kv_entry *entry)
{
    struct kv_entry *entries = arena_grow(&page->arena, page->entries,
                                          page->count, sizeof(*entries));
    struct kv_entry copy = *entry;

    copy.key = copy_text(page, entry->key);
    if (!entry->is_prefix)
        copy.type = copy_text(page, entry->type);
    if (entry->value.data)
        copy.value = copy_text(page, entry->value);
    if (!entries || !copy.key.data || (!copy.is_prefix && !copy.type.data) ||
        (entry->value.data && !copy.value.data))
        return false;
    page->value_bytes += copy.value.len;
    page->entries = entries;
    entries[page->count++] = copy;
    return true;
}

bool kv_page_set_next(struct kv_page *page, struct bytes last, bool is_prefix)
{
    char *next = arena_take(&page->arena, 1 + last.len);

    if (!next)
        return false;
    next[0] = is_prefix ? BEHIND_PREFIX : BEHIND_KEY;
    memcpy(next + 1, last.data, last.len);
    page->next = (struct bytes){next, 1 + last.len};
    return true;
}
