/*
 * cache_form - the form in which a request wants an answer: for which scheme, as
 * a whole page or a part of it, or as JSON.
 *
 * Proxies and frameworks tell that in fields of their own, and many origins heed
 * these without saying so (Vary). So the key has them, and what is written
 * invalidates the usual ones.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_FORM_H
#define CACHE_CACHE_FORM_H

#include "base/buf.h"
#include "http/request.h"

struct cache_forms {
    uint32_t asked; /* a bit for each form */
    /* Whether writes could not invalidate what is stored in these forms: one is
     * not usual, or several ask for a part of a page, or one does besides a
     * proxy's. */
    bool are_odd;
};

/* Reads what a request asks for. */
struct cache_forms cache_forms_read(const struct request *request);

/* Appends the forms to a key. They are in one order, whatever order the request
 * has them in. */
void cache_forms_put(const struct cache_forms *forms,
                     const struct request *request, struct buf *out);

/* As cache_forms_put(), with a usual form besides or, if the request asks for
 * that form, in its place. number is from 0 on. False: there are no more. */
MUST_USE bool cache_forms_put_with(const struct cache_forms *forms,
                                   const struct request *request,
                                   unsigned number, struct buf *out);

#endif
