#include "base/base64.h"
#include "base/utf8.h"
#include "handler/kv/kv_priv.h"
#include "http/date.h"

/* Puts "name":"text", or "name64":"..." in base64 if the bytes are no text. */
static void put_text(struct buf *out, const char *name, struct bytes text)
{
    bool is_text = utf8_is_valid(text);

    buf_put_literal(out, "\"");
    buf_put(out, bytes_of(name));
    buf_put(out, is_text ? BYTES("\":\"") : BYTES("64\":\""));
    if (is_text)
        buf_put_json(out, text);
    else
        base64_put(out, text);
    buf_put_literal(out, "\"");
}

void kv_put_prefix(struct buf *out, struct bytes prefix)
{
    buf_put_literal(out, "{");
    put_text(out, "prefix", prefix);
    buf_put_literal(out, "}");
}

void kv_put_key(struct buf *out, struct bytes key)
{
    put_text(out, "key", key);
}

void kv_put_entry(struct buf *out, const struct kv_entry *entry)
{
    kv_put_key(out, entry->key);
    buf_put_literal(out, ",\"size\":");
    buf_put_number(out, entry->value_bytes);
    buf_put_literal(out, ",\"etag\":\"\\\"");
    buf_put_number(out, entry->meta.revision);
    buf_put_literal(out, "\\\"\",\"type\":\"");
    buf_put_json(out,
                 entry->type.len > 0 ? entry->type : BYTES(KV_DEFAULT_TYPE));
    buf_put_literal(out, "\",\"time\":\"");
    date_put_rfc3339(out, entry->meta.stored_ms / 1000, 'T');
    buf_put_literal(out, "\",\"expires\":");
    if (entry->meta.expires_ms == 0) {
        buf_put_literal(out, "null");
        return;
    }
    buf_put_literal(out, "\"");
    date_put_rfc3339(out, kv_expires_s(&entry->meta), 'T');
    buf_put_literal(out, "\"");
}
