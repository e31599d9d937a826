/*
 * static_files_priv - what the two files of static_files share: static_files.c,
 * which answers, and static_files_entry.c, which finds what to answer with.
 */
#ifndef HANDLER_STATIC_FILES_PRIV_H
#define HANDLER_STATIC_FILES_PRIV_H

#include "handler/representation.h"
#include "handler/static_files.h"

struct static_files {
    struct static_files_options options;
    struct boundary boundary;
};

/* --- static_files_entry.c ------------------------------------------------------ */

/* The entry of a name below the root in itself, without a coding. NULL: no
 * memory. */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name);

/* Whether the file that name leads to may answer who asked for asked; else that
 * is answered, or waits. */
bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name);

/* The sibling that the client likes best, of those it may have, in the place of
 * entry; entry when there is none. */
struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry);

#endif
