#include "handler/sites/sites_priv.h"

#include "handler/error_pages.h"

static bool has_error_page(const struct error_source *source, unsigned status)
{
    const struct place *place = OWNER_OF(source, struct place, errors);

    return error_pages_find(place->options->error_pages, status).len > 0;
}

/* Replaces the body of an error by the place's own page, a file below its
 * root. */
static void put_error_page(const struct error_source *source,
                           struct response *response)
{
    const struct place *place = OWNER_OF(source, struct place, errors);
    const struct exchange *exchange = OWNER_OF(response, struct exchange,
                                               response);
    const struct error_pages *pages = place->options->error_pages;
    struct bytes page = error_pages_find(pages, response->status);
    char storage[HTTP1_LINE_BYTES_MAX + ERROR_PAGE_PATH_MAX];
    struct buf path;

    buf_init(&path, storage, sizeof(storage), sizeof(storage));
    if (place->options->strip_prefix)
        buf_put(&path, place->prefix);
    buf_put(&path, page);
    if (page.len > 0 && place_shows(place, exchange, buf_bytes(&path)))
        error_pages_apply(pages, place->sites->cache,
                          static_files_space(place->files), response);
}

struct error_source place_error_source(void)
{
    return (struct error_source){.has = has_error_page, .put = put_error_page};
}
