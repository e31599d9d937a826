/*
 * listing - lists a directory, as a page or as JSON, while it is sent.
 *
 * Each fill reads and stats a batch of entries, so that a directory of
 * 100,000 never stalls the worker. Up to LISTING_SORT_MAX entries are read
 * ahead and come sorted, directories first, then by name; a larger directory
 * comes in the order the file system has it (the page itself can sort by
 * name, size or time in the browser, either way). Hidden names are left out
 * unless asked for. Names are escaped for HTML, percent-encoded in links,
 * and valid UTF-8 in JSON whatever the file system holds.
 *
 * A client that takes nothing must not use up the descriptors: of the listings
 * of one place LISTING_OPEN_MAX have their directory open. One more has the
 * oldest of these closed; it is opened again where it was left when its client
 * takes more.
 *
 * Thread: the worker's.
 * Owns:   the open directory and the names read ahead.
 */
#ifndef HANDLER_LISTING_H
#define HANDLER_LISTING_H

#include "base/list.h"
#include "files/docroot.h"
#include "http/request.h"
#include "http/response.h"

enum { LISTING_SORT_MAX = 4096, LISTING_OPEN_MAX = 64 };

/* The listings of one place that have their directory open. */
struct listing_group {
    struct list open; /* private: read longest ago first */
    size_t count;     /* private */
};

void listing_group_init(struct listing_group *group);

enum listing_format { LISTING_HTML, LISTING_JSON };

/* Returns JSON if Accept weighs application/json higher than text/html. */
enum listing_format listing_choose(const struct request *request);

/* Writes Content-Type, Vary: Accept, Cache-Control: no-cache; for the page also
 * a Content-Security-Policy that allows only its own inline style and
 * script. */
void listing_describe(enum listing_format format, struct buf *head);

/* Opens the directory at the clean path, which ends in '/', and returns its
 * text as a source. NULL: it cannot be opened, or no memory. Root and group are
 * borrowed. */
MUST_USE struct source *listing_open(const struct docroot *root,
                                     struct listing_group *group,
                                     struct bytes path,
                                     enum listing_format format,
                                     bool show_hidden);

#endif
