/*
 * mime - media type by file name extension.
 *
 * A built-in table of common types, and a file in the format of
 * /etc/mime.types, when that is there, for what the table does not have: such
 * files take ".ts" for Qt's translations, and give RSS a type that no browser
 * takes for RSS. Text types (those under text/, those in +json and +xml, and
 * application/javascript, json and xml) carry "; charset=utf-8" ready made.
 *
 * Thread: created at start; afterwards read only and shared by all.
 * Owns:   the table and every text it returns.
 */
#ifndef HTTP_MIME_H
#define HTTP_MIME_H

#include "base/bytes.h"

#define MIME_CHARSET "; charset=utf-8"

struct mime; /* opaque */

/* types_file may be NULL, may not exist, or may have 1 MiB or more: built-in
 * types only. Lines over 4 KiB, types that are no token "/" token, and
 * extensions with other bytes than [0-9A-Za-z+_-] are skipped; of two lines
 * of it for one extension the later counts. NULL: no memory. */
MUST_USE struct mime *mime_create(const char *types_file);
void mime_destroy(struct mime *mime);

/* The type for a path by what follows the last '.' of its last segment, case
 * ignored; "application/octet-stream" when unknown. Lives as long as mime. */
struct bytes mime_find(const struct mime *mime, struct bytes path);

/* Whether text is token "/" token, a type without parameters. */
bool mime_is_type(struct bytes text);

/* Whether a type, given without parameters, gets a charset. */
bool mime_is_text(struct bytes type);

#endif
