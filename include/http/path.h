/*
 * path - from the path of a request target to the name of a file below the
 * root, and back.
 *
 * Percent-decoded exactly once (RFC 3986 2.4); runs of slashes made one; dot
 * segments removed (5.2.4), also those that were encoded. An empty segment is
 * nothing to a file system, so ".." goes past it: "/a//../b" is "/b". What
 * would climb above the root, NUL, an encoded slash (%2F) and a broken escape
 * are refused: two readers could understand them differently.
 *
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
    bool is_hidden;     /* a segment of clean begins with '.', and is not
                         * ".well-known": static_files refuses it */
    enum reason fault;  /* why the path is refused */
};

/* Cleans raw, which begins with '/'. The usual path (nothing to decode, no
 * empty or dotted segment) is found in one pass and path_out->clean borrows
 * raw; otherwise it is written to out, which has room for raw.len bytes and may
 * be where raw is. A final '/' stays (also where "." or ".." ended the path).
 * False: refuse it for path_out->fault. */
MUST_USE bool path_clean(struct bytes raw, char *out, struct path *path_out);

/* Flags: other ways in which some servers read a path. */
enum path_reading {
    PATH_WITHOUT_PARAMETERS = 1, /* "/a;b=c/d" is read as "/a/d" */
    PATH_WITH_BACKSLASHES = 2,   /* "/a\\b" and "/a%5Cb" are read as "/a/b" */
    PATH_WITHOUT_AUTHORITY = 4,  /* "//host/a" is read as "/a" */
    PATH_LITERALLY = 8,          /* encoded ';' and '\\' mean themselves */
    /* "/;a\\b" is read as "/": backslashes become slashes after the rest. */
    PATH_BACKSLASHES_LAST = 16,
    PATH_AUTHORITY_LAST = 32, /* with that: "/;a/\\host/b" is read as "/b" */
    PATH_READINGS = 64        /* number of combinations of the flags */
};

/* Whether raw has a byte that the first two flags read differently. */
bool path_is_ambiguous(struct bytes raw);

/* The flags by which raw may be read as another path than without them. */
unsigned path_find_readings(struct bytes raw);

/* Whether an authority may be read in raw: it has an empty segment. Not only at
 * its start, as what precedes that may be a prefix that is cut off. */
bool path_may_have_authority(struct bytes raw);

/* Cleans raw in that reading, as path_clean() does; out has room for raw.len
 * bytes. False: so read, the path is refused, for instance because it climbs
 * above the root. */
MUST_USE bool path_clean_as(struct bytes raw, unsigned reading, char *out,
                            struct path *path_out);

/* Copies raw to out, which has room for raw.len bytes, with the byte slash for
 * each encoded slash (%2F): '/', or a byte that no path has. */
struct bytes path_replace_slashes(struct bytes raw, char slash, char *out);

/* Whether path is prefix, which has no slash at its end, or lies below it. */
static inline bool path_leads(struct bytes prefix, struct bytes path)
{
    return path.len >= prefix.len &&
           memcmp(path.data, prefix.data, prefix.len) == 0 &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

/* Percent-encodes a decoded path for a URI: unreserved characters, "/" and
 * the sub-delims that are safe in HTML attributes stay; all else becomes
 * %XX. Writes at most 3 * path.len bytes, returns how many; no NUL. */
size_t path_encode(struct bytes path, char *out);

/* Encodes one value of a query or fragment: only unreserved characters and "/"
 * stay. */
size_t path_encode_value(struct bytes text, char *out);

/* Appends a query as it was sent, for a URI that leads elsewhere: only what
 * would mean something else there, or nothing, becomes %XX: '#' and what is not
 * ASCII. */
void path_put_query(struct bytes query, struct buf *out);

#endif
