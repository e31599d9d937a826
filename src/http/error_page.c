#include "http/error_page.h"

#include <assert.h>
#include <pthread.h>

#include "base/buf.h"
#include "http/status.h"

/* The colours are those of listings (handler/listing_page.c). The colour scheme
 * also stands in a meta element, which counts where no style may be applied. */
static const char before_title[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,"
    " initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>";
static const char before_heading[] =
    "</title>\n"
    "<style>\n"
    "body{margin:0 auto;max-width:60rem;padding:1.5rem 1.25rem;\n"
    "background:#fbfaf7;color:#1d2327;\n"
    "font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{padding-left:1rem;border-left:.3rem solid #0b857f;\n"
    "font-size:1.6rem;line-height:1.25}\n"
    "@media(prefers-color-scheme:dark){\n"
    "body{background:#14181b;color:#e8e6df}}\n"
    "</style>\n"
    "</head>\n"
    "<body><main><h1>";
static const char behind_heading[] = "</h1></main></body>\n"
                                     "</html>\n";

static void put_status(struct buf *out, unsigned status)
{
    buf_put_number(out, status);
    buf_put_literal(out, " ");
    buf_put(out, status_reason(status));
}

struct bytes error_page_write(char page[ERROR_PAGE_BYTES_MAX], unsigned status)
{
    struct buf out;

    buf_init(&out, page, ERROR_PAGE_BYTES_MAX, ERROR_PAGE_BYTES_MAX);
    buf_put_literal(&out, before_title);
    put_status(&out, status);
    buf_put_literal(&out, before_heading);
    put_status(&out, status);
    buf_put_literal(&out, behind_heading);
    assert(!out.failed);
    return buf_bytes(&out);
}

/* --- The pages of all known statuses ------------------------------------- */

enum { CLASSES = 3, OF_CLASS = 52 }; /* 300 to 351, 400 to 451, 500 to 551 */

static char texts[CLASSES][OF_CLASS][ERROR_PAGE_BYTES_MAX];
static struct bytes pages[CLASSES][OF_CLASS];

static void write_all(void)
{
    for (unsigned class = 0; class < CLASSES; class ++)
        for (unsigned i = 0; i < OF_CLASS; i++) {
            unsigned status = (class + 3) * 100 + i;

            if (status_is_known(status))
                pages[class][i] = error_page_write(texts[class][i], status);
        }
}

struct bytes error_page_find(unsigned status)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned class = status / 100 - 3;

    if (status < 300 || class >= CLASSES || status % 100 >= OF_CLASS)
        return BYTES("");
    pthread_once(&once, write_all);
    return pages[class][status % 100];
}
