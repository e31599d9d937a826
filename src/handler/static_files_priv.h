/*
 * static_files_priv - what the files of static_files share: static_files.c,
 * which answers, static_files_entry.c, which finds what to answer with, and
 * static_files_delta.c, which knows of clients that have an earlier version.
 */
#ifndef HANDLER_STATIC_FILES_PRIV_H
#define HANDLER_STATIC_FILES_PRIV_H

#include "handler/representation.h"
#include "handler/static_files.h"

struct static_files {
    struct static_files_options options;
    struct boundary boundary;
    struct coding_memo memo;
};

/* --- static_files_delta.c ------------------------------------------------ */

/* Whether a client may be told of dictionaries, and sent answers that need one:
 * over https, as far as that is known, or on its own machine (RFC 9842 9.2). */
bool static_files_is_trustworthy(const struct static_files *files,
                                 const struct exchange *exchange);

/* The lines that the answer with an entry has besides. */
void static_files_put_dictionary(struct buf *head,
                                 const struct file_entry *entry);

/* What is sent to a client instead of all of an entry, because it has an
 * earlier version, and likes that as well as whatever else there is; NULL:
 * nothing. */
struct file_entry *static_files_find_delta(struct static_files *files,
                                           const struct exchange *exchange,
                                           struct file_entry *entry,
                                           const struct coding_taste *taste);

/* --- static_files_entry.c ------------------------------------------------ */

/* The entry of a name below the root in itself, without a coding; is it one that
 * a variant may go in the place of, see static_files_prefer(). NULL: no memory.
 */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name);

/* Whether the file that name leads to may answer who asked for asked; else that
 * is answered, or waits. */
bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name);

/* The ETag by which If-None-Match names something that was made of the entry's
 * version, in a coding that the client takes: whoever has that has the file,
 * whatever is sent by now. Empty: none. */
struct bytes static_files_named(const struct request *request,
                                const struct file_entry *entry,
                                const struct coding_taste *taste);

/* The sibling that the client likes best, of those it may have, in the place of
 * entry, whose reference is taken over; else the variant; entry when there is
 * neither. That may have changed since it was made: then it is what the name
 * leads to now, of whatever kind. NULL: no memory. */
struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry);

#endif
