/*
 * path - from the path of a request target to the name of a file below the
 * root, and back.
 *
 * A path is percent-decoded exactly once (RFC 3986 2.4). Runs of slashes become
 * one slash, and dot segments are removed (5.2.4), also encoded ones. An empty
 * segment means nothing to a file system, so ".." passes over empty segments:
 * "/a//../b" is "/b". A path that would climb above the root, or that has a
 * NUL, an encoded slash (%2F) or a broken escape, is refused, because two
 * readers could understand such a path differently.
 * Thread: any; no state.
 */
#ifndef HTTP_PATH_H
#define HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "http/reason.h"

struct path {
    struct bytes clean; /* begins with '/'; decoded; no NUL inside */
    bool is_hidden;     /* a segment of `clean` begins with '.', and is not
                         * ".well-known"; static_files refuses such a path */
    enum reason fault;  /* why the path is refused */
};

/* Cleans raw, which begins with '/'. A usual path (nothing to decode, no empty
 * or dotted segment) is recognised in one pass, and path_out->clean borrows
 * raw. Any other path is written to `out`, which has room for raw.len bytes and
 * may be the memory of raw. A final '/' stays (also where "." or ".." ended the
 * path). Returns false when the path is refused for path_out->fault. */
MUST_USE bool path_clean(struct bytes raw, char *out, struct path *path_out);

/* Flags: other ways in which some servers read a path. */
enum path_reading {
    PATH_WITHOUT_PARAMETERS = 1, /* "/a;b=c/d" is read as "/a/d" */
    PATH_WITH_BACKSLASHES = 2,   /* "/a\\b" and "/a%5Cb" are read as "/a/b" */
    PATH_WITHOUT_AUTHORITY = 4,  /* "//host/a" is read as "/a" */
    PATH_LITERALLY = 8,          /* encoded ';' and '\\' mean themselves */
    /* Backslashes become slashes after all else: "/;a\\b" is read as "/". */
    PATH_BACKSLASHES_LAST = 16,
    /* With PATH_BACKSLASHES_LAST: "/;a/\\host/b" is read as "/b". */
    PATH_AUTHORITY_LAST = 32,
    PATH_READINGS = 64 /* number of combinations of the flags */
};

/* Whether raw has a ';' or a backslash, perhaps an encoded one. The first two
 * flags give another meaning to these. */
bool path_is_ambiguous(struct bytes raw);

/* Returns the flags under which raw may be read as another path. */
unsigned path_find_readings(struct bytes raw);

/* Returns the next combination of the flags in `found` behind `reading`, or 0
 * behind the last one. A combination that comes to the same path as one with
 * fewer flags, whatever the path, is left out. */
unsigned path_next_reading(unsigned found, unsigned reading);

/* Whether a reader may find an authority in raw, because raw has an empty
 * segment. The segment may stand anywhere in raw, since all before it may be a
 * prefix that is cut off. */
bool path_may_have_authority(struct bytes raw);

/* Cleans raw as path_clean() does, but in the reading that the flags describe;
 * `out` has room for raw.len bytes. Returns false when the path is refused in
 * this reading, for instance because it climbs above the root. */
MUST_USE bool path_clean_as(struct bytes raw, unsigned reading, char *out,
                            struct path *path_out);

/* Copies raw to `out`, which has room for raw.len bytes, and puts the byte
 * `slash` in the place of each encoded slash (%2F). `slash` is '/', or a byte
 * that no path has. */
struct bytes path_replace_slashes(struct bytes raw, char slash, char *out);

/* Whether `path` equals `prefix` or lies below it. The prefix has no slash at
 * its end. */
static inline bool path_leads(struct bytes prefix, struct bytes path)
{
    return path.len >= prefix.len &&
           memcmp(path.data, prefix.data, prefix.len) == 0 &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

/* Percent-encodes a decoded path for a URI: unreserved characters, "/" and
 * the sub-delims that are safe in HTML attributes stay; all else becomes
 * %XX. Writes at most 3 * path.len bytes, without a NUL, and returns their
 * number. */
size_t path_encode(struct bytes path, char *out);

/* Encodes one value of a query or fragment as path_encode() does, but only
 * unreserved characters and "/" stay. */
size_t path_encode_value(struct bytes text, char *out);

/* Appends a query as it was sent, for a URI in a Location. Only '#' and bytes
 * that are not ASCII become %XX, because no query of a URI can have them. */
void path_put_query(struct bytes query, struct buf *out);

#endif
