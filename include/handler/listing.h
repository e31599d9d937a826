/*
 * listing - lists a directory, as a page or as JSON, while it is sent.
 *
 * Each fill reads and stats a batch of entries, so that a directory of 100,000
 * entries never stalls the worker. Up to LISTING_SORT_MAX entries are read
 * ahead, and are listed sorted: directories first, then by name. A larger
 * directory is listed in the order of the file system. The page itself can sort
 * any listing in the browser, by name, size or time. Hidden names are left out
 * unless show_hidden is set. Names are escaped for HTML, percent-encoded in
 * links, and valid UTF-8 in JSON whatever the file system holds.
 *
 * A client that takes nothing must not use up the descriptors. So at most
 * LISTING_OPEN_MAX listings of one place have their directory open. When one
 * more is opened, the directory that was read longest ago is closed. It is
 * opened again, and read on from where it was left, when its client takes more.
 * Nor must it use up the memory. While the listings of one place hold more than
 * LISTING_HELD_MAX bytes, none reads more ahead than a batch: what it has is
 * listed unsorted.
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

enum {
    LISTING_SORT_MAX = 4096,
    LISTING_OPEN_MAX = 64,
    LISTING_HELD_MAX = 4 << 20
};

/* The listings of one place. */
struct listing_group {
    /* private: listings that have their directory open; the one read longest
     * ago is first */
    struct list open;
    size_t count; /* private: listings in `open` */
    size_t held;  /* private: bytes of all listings' entries and names */
};

void listing_group_init(struct listing_group *group);

enum listing_format { LISTING_HTML, LISTING_JSON };

/* Returns LISTING_JSON if Accept weighs application/json higher than text/html,
 * and otherwise LISTING_HTML. */
enum listing_format listing_choose(const struct request *request);

/* The fields that a 304 for a listing has, too. */
#define LISTING_FIELDS "Vary: Accept\r\nCache-Control: no-cache\r\n"

/* Writes Content-Type and LISTING_FIELDS. For the page, also writes a
 * Content-Security-Policy that allows only the page's own inline style and
 * script. */
void listing_describe(enum listing_format format, struct buf *head);

/* Opens the directory at `path`, which is clean and ends in '/'. Returns the
 * text of its listing as a source, or NULL if the directory cannot be opened or
 * there is no memory. `root` and `group` are borrowed. */
MUST_USE struct source *listing_open(const struct docroot *root,
                                     struct listing_group *group,
                                     struct bytes path,
                                     enum listing_format format,
                                     bool show_hidden);

#endif
