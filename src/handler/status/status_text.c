#include <stdlib.h>

#include "handler/status/status_priv.h"

struct status_text *status_text_create(size_t bytes_max)
{
    struct status_text *text = malloc(sizeof(*text));

    if (!text)
        return NULL;
    text->refs = 1;
    buf_init(&text->buf, NULL, 0, bytes_max);
    return text;
}

void status_text_release(struct status_text **text_ref)
{
    struct status_text *text = *text_ref;

    *text_ref = NULL;
    if (!text || --text->refs > 0)
        return;
    buf_fini(&text->buf);
    free(text);
}

void status_look(struct status *status)
{
    stats_read(status->options.stats, status->options.defaults.now,
               status->snapshot);
    status->snapshot->upstreams = status->upstreams;
    status->snapshot->certificates = status->certificates;
}

void status_fail(const struct status *status, struct response *response,
                 unsigned code, struct bytes fields)
{
    response_make_error(response, code, fields, &status->options.defaults);
}
