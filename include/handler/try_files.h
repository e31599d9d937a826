/*
 * try_files - the files that may answer for a path, tried one after the other.
 *
 *   $path              the file asked for
 *   $path.html         "/about" answered by "/about.html"
 *   $path/index.html
 *   /app.html          a page for all paths without a file
 *   =404               an error; only at the end, by default 404; none of the
 *                      few that need fields of their own (401, 405)
 *
 * A page answers only navigation, not requests for parts of a page. Navigation
 * is GET and HEAD of a client that names text/html in Accept, for a path whose
 * last segment has no extension. All other requests get the error, so that a
 * missing script is not answered by a page. The page must be revalidated, and
 * varies by Accept. An error that came only because of Accept varies by Accept,
 * too: a cache must not give the page to clients that get the error, nor the
 * error to clients that get the page.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HANDLER_TRY_FILES_H
#define HANDLER_TRY_FILES_H

#include "base/buf.h"
#include "http/head_edit.h"
#include "http/request.h"

enum { TRY_FILES_MAX = 8, TRY_FILES_TEXT_MAX = 500 };

struct try_files {
    size_t count;
    unsigned status; /* status of "=404"; 0: not given, which means 404 */
    struct try_candidate {
        struct bytes before; /* text before "$path"; all text if has_path is
                                false */
        struct bytes after;
        bool has_path;
    } candidates[TRY_FILES_MAX];
};

enum try_kind {
    TRY_FILE,  /* try the file at that path */
    TRY_PAGE,  /* try that path as a page */
    TRY_STATUS /* no candidate is left: answer with `status` */
};

struct try_step {
    enum try_kind kind;
    unsigned status; /* the error, for TRY_STATUS */
    /* Edits for response->own_edits, or NULL. */
    const struct head_edits *edits;
};

/* How many of a path's candidates were tried. The object is zeroed at first. */
struct try_progress {
    size_t at;
    bool accept_decided; /* private */
};

/* Adds a candidate to an object that was zeroed at first. Returns NULL, or what
 * is wrong: a message that the caller prints behind `text`. */
MUST_USE const char *try_files_add(struct try_files *tries, struct bytes text);

/* Returns the next candidate for a request with that clean path. The
 * candidate's path is written to `out`, which is empty at first. If `out`
 * fails, the caller answers 414. Must not be called after TRY_STATUS. */
struct try_step try_files_next(const struct try_files *tries,
                               struct try_progress *progress,
                               const struct request *request,
                               struct bytes clean, struct buf *out);

#endif
