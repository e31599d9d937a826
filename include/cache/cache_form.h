/*
 * cache_form - the form in which a request wants an answer: for which scheme,
 * as a whole page or a part of it, or as JSON.
 *
 * Proxies and frameworks tell the form in fields of their own, and many origins
 * heed these fields without naming them in Vary. So the form is a part of the
 * key, and a write invalidates the usual forms.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_FORM_H
#define CACHE_CACHE_FORM_H

#include "base/buf.h"
#include "http/request.h"

struct cache_forms {
    uint32_t asked; /* a bit for each form that is asked for */
    /* Set when a write does not invalidate answers stored for these forms. That
     * is so when a form for a part of a page has an unusual value, or stands
     * beside any other form. */
    bool are_odd;
};

/* Reads the forms that a request asks for. */
struct cache_forms cache_forms_read(const struct request *request);

/* Appends the forms to a key, always in one order, whatever their order in the
 * request. */
void cache_forms_put(const struct cache_forms *forms,
                     const struct request *request, struct buf *out);

/* Does what cache_forms_put() does, but adds one of the usual forms. If the
 * request asks for that form with another value, the usual value replaces it.
 * The caller counts `number` up from 0 to get one usual form after the other.
 * Returns false when `number` is past the last one. */
MUST_USE bool cache_forms_put_with(const struct cache_forms *forms,
                                   const struct request *request,
                                   unsigned number, struct buf *out);

#endif
