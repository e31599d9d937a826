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
    uint32_t asked; /* a bit for each form */
    /* Whether a write would not invalidate what is stored in these forms: a
     * form has no usual value, or several forms ask for a part of a page, or
     * one does together with a proxy's form. */
    bool are_odd;
};

/* Reads the forms that a request asks for. */
struct cache_forms cache_forms_read(const struct request *request);

/* Appends the forms to a key, always in one order, whatever their order in the
 * request. */
void cache_forms_put(const struct cache_forms *forms,
                     const struct request *request, struct buf *out);

/* Does as cache_forms_put(), but with one usual form added. If the request asks
 * for that form with another value, the usual one replaces it. number counts
 * usual forms from 0. Returns false when there are no more. */
MUST_USE bool cache_forms_put_with(const struct cache_forms *forms,
                                   const struct request *request,
                                   unsigned number, struct buf *out);

#endif
