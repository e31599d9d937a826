/*
 * static_files_priv - shared by static_files.c, which answers,
 * static_files_entry.c, which finds the file, and static_files_delta.c, which
 * serves clients that have an earlier version.
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

/* Returns true if a client may be told of dictionaries, and get answers that
 * need one (RFC 9842 9.2). Such a client uses https, as far as that is known,
 * or asks its own machine. */
bool static_files_is_trustworthy(const struct static_files *files,
                                 const struct exchange *exchange);

/* Puts lines about dictionaries into the head of an answer with that entry. */
void static_files_put_dictionary(struct buf *head,
                                 const struct file_entry *entry);

/* Returns a delta to send instead of the entry, or NULL. There is none unless
 * the client has an earlier version, and likes deltas at least as much as other
 * codings. */
struct file_entry *static_files_find_delta(struct static_files *files,
                                           const struct exchange *exchange,
                                           struct file_entry *entry,
                                           const struct coding_taste *taste);

/* --- static_files_entry.c ------------------------------------------------ */

/* Returns the uncoded entry for a name below the root. static_files_prefer()
 * finds what may be sent instead. Returns NULL when there is no memory. */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name);

/* Returns whether what is at `name`, a file or the list of a directory, may
 * answer a request for the path `asked`. If it may not, the exchange was
 * answered, or waits. */
bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name, enum file_kind kind);

/* Looks in If-None-Match for an ETag of a coded form of the entry's version, in
 * a coding that the client accepts. Returns the ETag, or an empty text if there
 * is none. A client that names such an ETag has the file, whatever would be
 * sent now. */
struct bytes static_files_named(const struct request *request,
                                const struct file_entry *entry,
                                const struct coding_taste *taste);

/* Takes over the reference to `entry`, the plain file. Returns what the client
 * gets: a delta from a version that the client has; or else a sibling on disk;
 * or else a variant that the compressor has made; or else `entry` itself. If
 * the file has changed meanwhile, returns whatever the name leads to now, which
 * may be of any kind. Returns NULL when there is no memory. */
struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry);

#endif
