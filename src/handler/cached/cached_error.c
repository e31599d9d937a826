#include "handler/cached/cached_fetch_priv.h"

/* A request is odd if its fields have more bytes than this. Most browsers send
 * half as many. */
enum { LONG_FIELDS_BYTES = 4096 };

bool fetch_is_about_request(const struct fetch *fetch)
{
    unsigned status = fetch->exchange.response.status;

    switch (status) {
    case 206: /* this may answer the field Request-Range, which Apache knows */
    case 226:
        return true;
    case 401:
    case 403:
        return fetch->is_authorized || fetch->has_user;
    case 404:
    case 410:
    case 451:
        return false;
    default:
        return (status >= 400 && status < 500) || status == 501 ||
               status == 505;
    }
}

/* Returns true if the request's fields are long, or have bytes that are not
 * ASCII. An origin may refuse them, while it accepts those of other
 * requests. */
static bool is_odd(const struct request *request)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < request->field_count; i++) {
        struct bytes value = request->fields[i].value;

        bytes += request->fields[i].name.len + value.len;
        for (size_t k = 0; k < value.len; k++)
            if ((unsigned char)value.data[k] >= 0x7f)
                return true;
    }
    return bytes > LONG_FIELDS_BYTES;
}

bool fetch_is_askers_error(const struct fetch *fetch)
{
    return fetch->exchange.response.status >= 400 &&
           fetch_is_about_request(fetch) &&
           (is_odd(&fetch->exchange.request) ||
            cache_store_has_answer(fetch->cached->options.store,
                                   (struct bytes){fetch->key, fetch->key_len}));
}
