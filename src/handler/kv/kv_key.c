#include "handler/kv/kv_key.h"

#include "http/path.h"
#include "http/percent.h"

/* Returns the length of `text` after decoding. */
static size_t decoded_len(struct bytes text)
{
    size_t len = text.len;

    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '%')
            len -= len > 2 ? 2 : len;
    return len;
}

/* Whether `text` needs no decoding. Most keys need none. */
static bool is_plain(struct bytes text)
{
    return !memchr(text.data, '%', text.len) &&
           !memchr(text.data, '\0', text.len);
}

static enum kv_key_verdict decode(struct bytes text, char out[KV_KEY_BYTES_MAX],
                                  size_t *len_out)
{
    char room[3 * KV_KEY_BYTES_MAX];

    if (text.len > sizeof(room) || decoded_len(text) > KV_KEY_BYTES_MAX)
        return KV_KEY_TOO_LONG;
    if (!percent_decode(text, false, room, len_out))
        return KV_KEY_MALFORMED;
    memcpy(out, room, *len_out);
    return KV_KEY_ONE;
}

enum kv_key_verdict kv_key_read(struct bytes raw_path, struct bytes prefix,
                                char out[KV_KEY_BYTES_MAX],
                                struct bytes *key_out)
{
    struct bytes rest;

    *key_out = (struct bytes){out, 0};
    if (!path_leads(prefix, raw_path))
        return KV_KEY_ELSEWHERE;
    if (raw_path.len <= prefix.len + 1)
        return KV_KEY_ALL;
    rest = bytes_between(raw_path.data + prefix.len + 1,
                         raw_path.data + raw_path.len);
    if (bytes_eq(rest, BYTES("-/batch")))
        return KV_KEY_BATCH;
    if (rest.len > KV_KEY_BYTES_MAX || !is_plain(rest))
        return decode(rest, out, &key_out->len);
    memcpy(out, rest.data, rest.len);
    key_out->len = rest.len;
    return KV_KEY_ONE;
}

const char *kv_key_fault(enum kv_key_verdict verdict)
{
    switch (verdict) {
    case KV_KEY_ELSEWHERE:
        return "the path must have its prefix in plain letters";
    case KV_KEY_MALFORMED:
        return "a key has no NUL, and two hexadecimal digits behind each '%'";
    case KV_KEY_TOO_LONG:
        return "a key has 511 bytes at most";
    case KV_KEY_ONE:
    case KV_KEY_ALL:
    case KV_KEY_BATCH:
        break;
    }
    return NULL;
}
