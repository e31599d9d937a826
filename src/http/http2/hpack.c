#include "http/http2/hpack.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>

/* The opaque structs are nghttp2's own. */

static nghttp2_hd_deflater *deflater_of(struct hpack_encoder *encoder)
{
    return (nghttp2_hd_deflater *)(void *)encoder;
}

static nghttp2_hd_inflater *inflater_of(struct hpack_decoder *decoder)
{
    return (nghttp2_hd_inflater *)(void *)decoder;
}

/* --- To the client ------------------------------------------------------- */

struct hpack_encoder *hpack_encoder_create(void)
{
    nghttp2_hd_deflater *deflater;
    uint8_t size_update[16];

    if (nghttp2_hd_deflate_new(&deflater, 0) != 0)
        return NULL;
    /* An encoder's first block begins with the table's size. This block is
     * thrown away, because each connection sends HPACK_NO_TABLE itself. */
    if (nghttp2_hd_deflate_hd(deflater, size_update, sizeof(size_update), NULL,
                              0) >= 0)
        return (struct hpack_encoder *)(void *)deflater;
    nghttp2_hd_deflate_del(deflater);
    return NULL;
}

void hpack_encoder_destroy(struct hpack_encoder *encoder)
{
    if (encoder)
        nghttp2_hd_deflate_del(deflater_of(encoder));
}

/* The most bytes that an encoded field has besides its text: its kind and
 * index, and two lengths. */
enum { FIELD_EXTRA = 16 };

void hpack_encode(struct hpack_encoder *encoder,
                  const struct hpack_field *fields, size_t count,
                  struct buf *out)
{
    nghttp2_nv pairs[HPACK_FIELDS_MAX];
    size_t most = FIELD_EXTRA;
    ssize_t len;
    char *to;

    assert(count <= HPACK_FIELDS_MAX);
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct hpack_field *field = &fields[i];

        pairs[i] = (nghttp2_nv){
            .name = (uint8_t *)(uintptr_t)field->name.data,
            .namelen = field->name.len,
            .value = (uint8_t *)(uintptr_t)field->value.data,
            .valuelen = field->value.len,
            .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME |
                     NGHTTP2_NV_FLAG_NO_COPY_VALUE};
        most += field->name.len + field->value.len + FIELD_EXTRA;
    }
    to = buf_reserve(out, most);
    if (!to)
        return;
    len = nghttp2_hd_deflate_hd(deflater_of(encoder), (uint8_t *)to, most,
                                pairs, count);
    if (len < 0)
        out->failed = true;
    else
        out->len += (size_t)len;
}

void hpack_encode_status(unsigned status, struct buf *out)
{
    /* Entries 8 to 14 of RFC 7541 appendix A, as indexed fields. */
    static const uint16_t indexed[] = {200, 204, 206, 304, 400, 404, 500};
    char field[5] = {0x08, 0x03, (char)('0' + status / 100 % 10),
                     (char)('0' + status / 10 % 10), (char)('0' + status % 10)};

    for (size_t i = 0; i < sizeof(indexed) / sizeof(*indexed); i++) {
        if (indexed[i] != status)
            continue;
        field[0] = (char)(0x88 + i);
        buf_put(out, (struct bytes){field, 1});
        return;
    }
    buf_put(out, (struct bytes){field, sizeof(field)});
}

/* --- From the client ----------------------------------------------------- */

struct hpack_decoder *hpack_decoder_create(void)
{
    nghttp2_hd_inflater *inflater;

    return nghttp2_hd_inflate_new(&inflater) == 0
               ? (struct hpack_decoder *)(void *)inflater
               : NULL;
}

void hpack_decoder_destroy(struct hpack_decoder *decoder)
{
    if (decoder)
        nghttp2_hd_inflate_del(inflater_of(decoder));
}

bool hpack_decode(struct hpack_decoder *decoder, struct bytes block,
                  bool (*on_field)(void *context, struct bytes name,
                                   struct bytes value),
                  void *context)
{
    nghttp2_hd_inflater *inflater = inflater_of(decoder);
    const uint8_t *at = (const uint8_t *)block.data;
    size_t left = block.len;

    for (;;) {
        nghttp2_nv pair;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(inflater, &pair, &flags, at, left,
                                              1);

        if (used < 0)
            return false;
        at += used;
        left -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) &&
            !on_field(context,
                      (struct bytes){(const char *)pair.name, pair.namelen},
                      (struct bytes){(const char *)pair.value, pair.valuelen}))
            return false;
        if (flags & NGHTTP2_HD_INFLATE_FINAL)
            return nghttp2_hd_inflate_end_headers(inflater) == 0;
        if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && left == 0)
            return false;
    }
}

const char *hpack_library_version(void)
{
    return nghttp2_version(0)->version_str;
}
