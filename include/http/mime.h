/*
 * mime - media type by file name extension.
 *
 * A built-in table has the common types. A file in the format of
 * /etc/mime.types, if there is one, gives the types of other extensions. The
 * table goes first because such files take ".ts" for Qt's translations, and
 * give RSS a type that no browser takes for RSS. In the table all text types
 * (those under text/, those in +json and +xml, and application/javascript, json
 * and xml) have "; charset=utf-8" behind them.
 *
 * Thread: created at start; afterwards read only and shared by all.
 * Owns:   the table and every text it returns.
 */
#ifndef HTTP_MIME_H
#define HTTP_MIME_H

#include "base/bytes.h"

#define MIME_CHARSET "; charset=utf-8"

struct mime; /* opaque */

/* Makes the table. It has only the built-in types if types_file is NULL, does
 * not exist, or has 1 MiB or more. Lines over 4 KiB are skipped, and so are
 * lines whose type is not token "/" token, and extensions with a byte outside
 * of [0-9A-Za-z+_-]. If two lines of the file have one extension, the later
 * counts. Returns NULL when memory is short. */
MUST_USE struct mime *mime_create(const char *types_file);
void mime_destroy(struct mime *mime);

/* Finds the type for a path by its extension: what follows the last '.' of the
 * last segment. The case of letters does not count. An unknown extension has
 * the type "application/octet-stream". The text lives as long as the table. */
struct bytes mime_find(const struct mime *mime, struct bytes path);

/* Whether `text` is token "/" token, a type without parameters. */
bool mime_is_type(struct bytes text);

/* Whether a type, given without parameters, gets a charset. */
bool mime_is_text(struct bytes type);

#endif
