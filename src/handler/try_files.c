#include "handler/try_files.h"

#include "http/accept.h"
#include "http/path.h"

/* Edits for answers that depend on Accept. */
static const struct head_edits page_edits = {
    .count = 2,
    .edits = {{HEAD_SET, {"Cache-Control", 13}, {"no-cache", 8}},
              {HEAD_ADD, {"Vary", 4}, {"Accept", 6}}}};
static const struct head_edits vary_edits = {
    .count = 1, .edits = {{HEAD_ADD, {"Vary", 4}, {"Accept", 6}}}};

/* --- Reading ------------------------------------------------------------- */

/* Whether an answer of that status must have a field that no missing file has:
 * a challenge, Allow, Content-Range or Upgrade (RFC 9110 15.5). */
static bool needs_fields(unsigned status)
{
    return status == 401 || status == 405 || status == 407 || status == 416 ||
           status == 426;
}

static const char *read_status(struct try_files *tries, struct bytes text)
{
    unsigned status = 0;

    for (size_t i = 1; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]) || i > 3)
            return "is no status from 400 to 599";
        status = status * 10 + (unsigned)(text.data[i] - '0');
    }
    if (status < 400 || status > 599)
        return "is no status from 400 to 599";
    if (needs_fields(status))
        return "has a status that needs more than a page";
    tries->status = status;
    return NULL;
}

/* Whether `text` is a clean path, not above the root. */
static bool is_clean(struct bytes text)
{
    char storage[TRY_FILES_TEXT_MAX];
    struct path path;

    return path_clean(text, storage, &path) && bytes_eq(path.clean, text);
}

static const char *read_candidate(struct try_candidate *candidate,
                                  struct bytes text)
{
    static const struct bytes name = {"$path", 5};
    const char *end = text.data + text.len;
    const char *at = memmem(text.data, text.len, name.data, name.len);

    *candidate = (struct try_candidate){
        .before = text, .after = BYTES(""), .has_path = at};
    if (at) {
        candidate->before = bytes_between(text.data, at);
        candidate->after = bytes_between(at + name.len, end);
    }
    if (memchr(candidate->before.data, '$', candidate->before.len) ||
        (at && memchr(at + name.len, '$', candidate->after.len)))
        return "has a '$' that is not the one '$path'";
    if (candidate->before.len > 0 && !is_clean(candidate->before))
        return "is no path: it begins with '/' or '$path', and has no '//', "
               "'.' or '..'";
    if (candidate->has_path && candidate->before.len > 0 &&
        candidate->before.data[candidate->before.len - 1] == '/')
        return "has a '/' before '$path', which begins with one";
    if (memmem(candidate->after.data, candidate->after.len, "/.", 2) ||
        memmem(candidate->after.data, candidate->after.len, "//", 2))
        return "has '/.' or '//' behind '$path'";
    return NULL;
}

const char *try_files_add(struct try_files *tries, struct bytes text)
{
    const char *fault;

    if (tries->status != 0)
        return "stands behind a status, which is the last";
    if (text.len == 0 || text.len > TRY_FILES_TEXT_MAX)
        return "is empty, or longer than 500 bytes";
    if (bytes_has_control(text))
        return "has a control character";
    if (*text.data == '=')
        return read_status(tries, text);
    if (tries->count == TRY_FILES_MAX)
        return "is one candidate too many, 8 are allowed";
    fault = read_candidate(&tries->candidates[tries->count], text);
    if (!fault)
        tries->count++;
    return fault;
}

/* --- Trying -------------------------------------------------------------- */

static bool has_extension(struct bytes clean)
{
    const char *slash = memrchr(clean.data, '/', clean.len);

    return memchr(slash, '.', (size_t)(clean.data + clean.len - slash));
}

static bool may_navigate(const struct request *request, struct bytes clean)
{
    return (request->method == METHOD_GET || request->method == METHOD_HEAD) &&
           !has_extension(clean);
}

static bool takes_pages(const struct request *request)
{
    struct accepted html = accept_find(request, BYTES("text/html"));

    return html.precision == ACCEPT_ITSELF && html.weight > 0;
}

/* Makes the candidate's path. Returns false if the path would make no sense:
 * ".html" behind "/docs/" would be a hidden file in the directory. */
static bool expand(const struct try_candidate *candidate, struct bytes clean,
                   struct buf *out)
{
    struct bytes after = candidate->after;
    bool is_directory = clean.data[clean.len - 1] == '/';

    if (is_directory && after.len > 0 && *after.data != '/')
        return false;
    buf_put(out, candidate->before);
    if (!candidate->has_path)
        return true;
    if (is_directory && after.len > 0)
        clean.len--;
    buf_put(out, clean);
    buf_put(out, after);
    return true;
}

struct try_step try_files_next(const struct try_files *tries,
                               struct try_progress *progress,
                               const struct request *request,
                               struct bytes clean, struct buf *out)
{
    const struct head_edits *vary;

    while (progress->at < tries->count) {
        const struct try_candidate *candidate =
            &tries->candidates[progress->at++];
        bool is_page = !candidate->has_path;

        if (is_page) {
            if (!may_navigate(request, clean))
                continue;
            progress->accept_decided = true;
            if (!takes_pages(request))
                continue;
        }
        out->len = 0;
        if (!expand(candidate, clean, out))
            continue;
        vary = progress->accept_decided ? &vary_edits : NULL;
        if (out->failed)
            return (struct try_step){.kind = TRY_STATUS, .status = 414};
        return (struct try_step){.kind = is_page ? TRY_PAGE : TRY_FILE,
                                 .edits = is_page ? &page_edits : vary};
    }
    return (struct try_step){.kind = TRY_STATUS,
                             .status = tries->status ? tries->status : 404,
                             .edits = progress->accept_decided ? &vary_edits
                                                               : NULL};
}
