/*
 * static_files_priv - shared by static_files.c, which answers,
 * static_files_entry.c, which finds the file, and static_files_delta.c, for
 * clients that have an earlier version.
 */
#ifndef HANDLER_STATIC_FILES_PRIV_H
#define HANDLER_STATIC_FILES_PRIV_H

#include "handler/listing.h"
#include "handler/representation.h"
#include "handler/static_files.h"

struct static_files {
    struct static_files_options options;
    struct boundary boundary;
    struct coding_memo memo;
    struct listing_group listings;
};

/* --- static_files_delta.c ------------------------------------------------ */

/* Whether a client may be told of dictionaries, and get answers that need one:
 * over https, as far as known, or on its own machine (RFC 9842 9.2). */
bool static_files_is_trustworthy(const struct static_files *files,
                                 const struct exchange *exchange);

/* Puts additional lines into the head of an answer with that entry. */
void static_files_put_dictionary(struct buf *head,
                                 const struct file_entry *entry);

/* Finds a delta to send instead of the entry, since the client has an earlier
 * version and likes the delta at least as much as other codings. NULL: there is
 * none. */
struct file_entry *static_files_find_delta(struct static_files *files,
                                           const struct exchange *exchange,
                                           struct file_entry *entry,
                                           const struct coding_taste *taste);

/* --- static_files_entry.c ------------------------------------------------ */

/* Returns the entry for a name below the root, without a coding; if a variant
 * may replace it, see static_files_prefer(). NULL: no memory. */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name);

/* Whether the file that name leads to may answer a request for asked; if not,
 * that was answered, or waits. */
bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name);

/* Returns the ETag in If-None-Match that names a coded form of the entry's
 * version, in a coding that the client accepts: then the client has the file,
 * whatever would be sent now. Empty: none. */
struct bytes static_files_named(const struct request *request,
                                const struct file_entry *entry,
                                const struct coding_taste *taste);

/* Returns the sibling that the client likes best, of those it may have, instead
 * of entry, whose reference is taken over; else the variant, else entry. If the
 * file has changed meanwhile, it is whatever the name leads to now, of any
 * kind. NULL: no memory. */
struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry);

#endif
