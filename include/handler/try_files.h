/*
 * try_files - which files may answer for a path, one after the other.
 *
 *   $path              what was asked for
 *   $path.html         "/about" answered by "/about.html"
 *   $path/index.html
 *   /app.html          a page: whatever has no file of its own is its business
 *   =404               an error; only at the end, where nothing said means 404
 *
 * A page answers requests by which somebody navigates, and not those for parts
 * of a page: GET and HEAD of clients that name text/html in Accept, for a path
 * whose last segment has no extension. All others get the error, so that a
 * missing script is no page. Its answers say that they are to be asked for
 * again, and depend on Accept; so does an error that came only of Accept: a
 * cache must not give the page to clients that get the error, or the error to
 * others.
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
    unsigned status; /* of "=404"; 0: nothing said, which is 404 too */
    struct try_candidate {
        struct bytes before; /* "$path", or all of it when there is none */
        struct bytes after;
        bool has_path;
    } candidates[TRY_FILES_MAX];
};

enum try_kind {
    TRY_FILE,  /* a file of that path is looked for */
    TRY_PAGE,  /* a page of that path is looked for */
    TRY_STATUS /* no file is left: answer with status */
};

struct try_step {
    enum try_kind kind;
    unsigned status; /* of TRY_STATUS */
    /* For response->own_edits; NULL: none. */
    const struct head_edits *edits;
};

/* How far a path's candidates have been tried. All zero to begin with. */
struct try_progress {
    size_t at;
    bool accept_decided; /* private */
};

/* One more candidate, of an object that began as all zero. NULL, or what is
 * wrong with text, as words to put behind it. */
MUST_USE const char *try_files_add(struct try_files *tries, struct bytes text);

/* The next candidate for the clean path of a request, whose path is written
 * to out from its beginning (out begins empty, and may fail: then what is
 * answered is 414). Never again after TRY_STATUS. */
struct try_step try_files_next(const struct try_files *tries,
                               struct try_progress *progress,
                               const struct request *request,
                               struct bytes clean, struct buf *out);

#endif
