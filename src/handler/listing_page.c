#include "handler/listing_priv.h"
#include "http/date.h"
#include "http/path.h"

/* --- The page ------------------------------------------------------------ */

/* The page contains its style and its script. Its Content-Security-Policy
 * allows only these two, by the hash of the text between their tags. After a
 * change of either, the unit test prints the new hash. */
#define STYLE_HASH "sha256-zIaDcDT60tTHCu/BL+XFOR96lg2sYaerUTyoERFBrJA="
#define SCRIPT_HASH "sha256-w89UJxXpS8Cg11pPQHoWKSFzaMqKT+PE3mg2WZeZgwo="

/* Rows are grids in groups, and each group is a tbody: a browser lays out only
 * groups near the visible part. With 100,000 rows in one real table, Chromium
 * was busy for half a minute. */
enum { GROUP_ROWS = 100 };

/* A row is 2.4 rem high, and a group 240 rem. On a phone, a row becomes a
 * paragraph that is a link as a whole. Icons are clipped boxes, so that no
 * image is fetched. */
static const char defaults[] =
    "\n"
    ":root{color-scheme:light dark;--paper:#fbfaf7;--ink:#1d2327;\n"
    "--soft:#566068;--line:#dcd9d0;--link:#00605c;--large:#c98a1b}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181b;--ink:#e8e6df;\n"
    "--soft:#a3adb4;--line:#333b41;--link:#6fd3cb;--large:#e0a84a}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
    "body{margin:0 auto;max-width:60rem;padding:1.5rem 1.25rem 3rem;\n"
    "background:var(--paper);color:var(--ink);\n"
    "font:1rem/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "h1{margin:.25rem 0 1rem;font-size:1.6rem;line-height:1.25}\n"
    "h1,nav,td:first-child{overflow-wrap:anywhere;white-space:pre-wrap}\n"
    "nav,p{color:var(--soft)}\n"
    "nav a{display:inline-block;padding:.25rem 0}\n"
    "a{color:var(--link);text-decoration:none}\n"
    "a:hover{text-decoration:underline}\n"
    ":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
    "table,thead,tbody{display:block}\n"
    "tbody:nth-of-type(n+4){content-visibility:auto;\n"
    "contain-intrinsic-size:auto 240rem}\n"
    "tr{display:grid;grid-template-columns:1fr 6rem 12.5rem;\n"
    "align-items:baseline;border-top:1px solid var(--line)}\n"
    "thead tr{border:0}\n"
    "th,td{padding:.45rem 0;text-align:right}\n"
    "th,td+td{color:var(--soft);font-size:.94rem;white-space:nowrap;\n"
    "font-variant-numeric:tabular-nums}\n"
    "th{font-weight:600}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:1.75rem}\n"
    "td:first-child{position:relative}\n"
    "td:first-child::before{content:\"\";position:absolute;left:.1rem;\n"
    "top:.8rem;width:.8rem;height:.95rem;background:var(--soft);\n"
    "clip-path:polygon(0 0,60% 0,100% 33%,100% 100%,0 100%)}\n"
    ".d td:first-child::before{width:1rem;height:.85rem;\n"
    "background:var(--large);\n"
    "clip-path:polygon(0 0,40% 0,52% 18%,100% 18%,100% 100%,0 100%)}\n"
    "button{margin:-.45rem 0;padding:.45rem 0;border:0;background:none;\n"
    "color:inherit;font:inherit;cursor:pointer}\n"
    "button:hover{text-decoration:underline}\n"
    "button::after{content:\"\\2195\";padding-left:.35em;opacity:.5}\n"
    "[aria-sort] button{color:var(--ink)}\n"
    "[aria-sort] button::after{opacity:1}\n"
    "[aria-sort=ascending] button::after{content:\"\\2191\"}\n"
    "[aria-sort=descending] button::after{content:\"\\2193\"}\n"
    "@media(max-width:36rem){\n"
    "tr{grid-template-columns:auto 1fr;column-gap:1.25rem;\n"
    "position:relative;padding:.6rem 0 .6rem 1.75rem}\n"
    "thead tr{grid-template-columns:auto auto 1fr;padding-left:0}\n"
    "th,td,th:first-child,td:first-child{padding:0;text-align:left}\n"
    "button{padding:.75rem 0}\n"
    "td:first-child{position:static;grid-column:1/-1}\n"
    "td:first-child::before{top:.9rem}\n"
    "td:empty{display:none}\n"
    "a::after{content:\"\";position:absolute;inset:0}\n"
    "nav a{position:relative;padding:.5rem 0}}\n";

/* The script turns the column heads into buttons that sort the rows. Without
 * the script, the page works unsorted. Directories always come first. Sizes and
 * times are sorted descending at the first click. */
static const char script[] =
    "\n"
    "\"use strict\";{\n"
    "const heads = [...document.querySelectorAll(\"th\")];\n"
    "const groups = [...document.querySelectorAll(\"tbody:not(.up)\")];\n"
    "const names = new Intl.Collator(undefined, {numeric: true});\n"
    "const numbers = {compare: (a, b) => a - b};\n"
    "const times = {compare: (a, b) => a < b ? -1 : a > b};\n"
    "const orders = [\n"
    "  [names, row => row.cells[0].textContent, 1],\n"
    "  [numbers, row => row.cells[1].firstChild?.value ?? -1, -1],\n"
    "  [times, row => row.cells[2].textContent, -1],\n"
    "];\n"
    "heads.forEach((head, column) => {\n"
    "  const [order, key, first] = orders[column];\n"
    "  const button = document.createElement(\"button\");\n"
    "  button.append(...head.childNodes);\n"
    "  head.append(button);\n"
    "  button.onclick = () => {\n"
    "    const was = head.getAttribute(\"aria-sort\");\n"
    "    const way = was ? (was === \"ascending\" ? -1 : 1) : first;\n"
    "    const size = groups[0]?.rows.length;\n"
    "    const rows = groups.flatMap(group => [...group.rows].map(row =>\n"
    "      [row.className ? 0 : 1, key(row), row]));\n"
    "    rows.sort((a, b) =>\n"
    "      a[0] - b[0] || way * order.compare(a[1], b[1]));\n"
    "    groups.forEach((group, i) => group.replaceChildren(\n"
    "      ...rows.slice(i * size, (i + 1) * size).map(row => row[2])));\n"
    "    heads.forEach(other => other.removeAttribute(\"aria-sort\"));\n"
    "    head.setAttribute(\"aria-sort\",\n"
    "      way > 0 ? \"ascending\" : \"descending\");\n"
    "  };\n"
    "});}\n";

_Static_assert(sizeof(script) + 256 < LISTING_OUTRO_BYTES_MAX,
               "the end of the page must fit its room");

/* A path may be 2,000 directories deep. Links to the nearest 12 of them and to
 * the top are enough. */
enum { CRUMBS_MAX = 12 };

/* Takes the first segment off a path without a leading slash. */
static struct bytes take_segment(struct bytes *path)
{
    const char *slash = memchr(path->data, '/', path->len);
    struct bytes segment = bytes_between(path->data, slash);

    path->data += segment.len + 1;
    path->len -= segment.len + 1;
    return segment;
}

static void put_way_up(struct buf *out, size_t steps)
{
    buf_put_literal(out, "<a href=\"");
    while (steps-- > 0)
        buf_put_literal(out, "../");
    buf_put_literal(out, "\">");
}

/* Links are relative, so that they work behind a proxy that serves the listing
 * under another path. */
static void put_crumbs(struct buf *out, struct bytes path)
{
    size_t steps = 0;

    for (size_t i = 1; i < path.len; i++)
        steps += path.data[i] == '/';
    if (steps == 0) {
        buf_put_literal(out, "<main>\n<h1>Index of /</h1>\n");
        return;
    }
    buf_put_literal(out, "<nav aria-label=\"Path\">");
    put_way_up(out, steps);
    buf_put_literal(out, "Home</a>");
    if (steps > CRUMBS_MAX)
        buf_put_literal(out, " / &hellip;");
    path.data++;
    path.len--;
    while (--steps > 0) {
        struct bytes segment = take_segment(&path);

        if (steps >= CRUMBS_MAX)
            continue;
        buf_put_literal(out, " / ");
        put_way_up(out, steps);
        buf_put_html(out, segment);
        buf_put_literal(out, "</a>");
    }
    buf_put_literal(out, " /</nav>\n<main>\n<h1>");
    buf_put_html(out, take_segment(&path));
    buf_put_literal(out, "</h1>\n");
}

static void put_page_intro(struct buf *out, struct bytes path)
{
    buf_put_literal(
        out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,"
             " initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<title>Index of ");
    buf_put_html(out, path);
    buf_put_literal(out, "</title>\n<style>");
    buf_put(out, BYTES(defaults));
    buf_put_literal(out, "</style>\n");
    put_crumbs(out, path);
    buf_put_literal(out, "<table>\n<thead><tr><th scope=\"col\">Name"
                         "<th scope=\"col\">Size"
                         "<th scope=\"col\">Modified</thead>\n");
    if (path.len > 1)
        buf_put_literal(out, "<tbody class=\"up\"><tr class=\"d\"><td>"
                             "<a href=\"../\">Parent directory</a>\n");
}

static void put_page_outro(struct buf *out, uint64_t count)
{
    buf_put_literal(out, "</table>\n<p>");
    if (count == 0) {
        buf_put_literal(out, "Nothing here.");
    } else {
        buf_put_number(out, count);
        buf_put(out, count == 1 ? BYTES(" entry") : BYTES(" entries"));
    }
    buf_put_literal(out, "</p>\n</main>\n<script>");
    buf_put(out, BYTES(script));
    buf_put_literal(out, "</script>\n</html>\n");
}

/* --- An entry ------------------------------------------------------------ */

/* Puts a size, rounded to at least two digits: 999 B, 1.5 KiB, 12 KiB. */
static void put_size(struct buf *out, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    size_t unit = 0;
    uint64_t whole, tenths;

    if (bytes < 1024) {
        buf_put_number(out, bytes);
        buf_put_literal(out, " B");
        return;
    }
    for (; bytes >> 20 > 0; bytes >>= 10)
        unit++;
    tenths = (bytes * 10 + 512) >> 10;
    whole = (bytes + 512) >> 10;
    if (whole == 1024) {
        tenths = 10;
        unit++;
    }
    if (tenths < 100)
        buf_printf(out, "%u.%u %ciB", (unsigned)tenths / 10,
                   (unsigned)tenths % 10, units[unit]);
    else
        buf_printf(out, "%u %ciB", (unsigned)whole, units[unit]);
}

/* A leading "./" keeps a name like "a:b" from looking like a scheme. */
static void put_link(struct buf *out, struct bytes name, bool is_directory)
{
    char *to;

    buf_put_literal(out, "<a href=\"./");
    to = buf_reserve(out, 3 * name.len);
    if (to)
        out->len += path_encode(name, to);
    buf_put(out, is_directory ? BYTES("/\">") : BYTES("\">"));
}

static void put_row(struct buf *out, const struct listing_entry *entry)
{
    bool is_directory = entry->kind == LISTING_DIRECTORY;
    bool is_link = entry->kind != LISTING_OTHER; /* LISTING_OTHER: not served */

    buf_put(out,
            is_directory ? BYTES("<tr class=\"d\"><td>") : BYTES("<tr><td>"));
    if (is_link)
        put_link(out, entry->name, is_directory);
    buf_put_html(out, entry->name);
    if (is_directory)
        buf_put_literal(out, "/");
    buf_put(out, is_link ? BYTES("</a><td>") : BYTES("<td>"));
    if (entry->kind == LISTING_FILE) {
        buf_put_literal(out, "<data value=\"");
        buf_put_number(out, entry->bytes);
        buf_put_literal(out, "\">");
        put_size(out, entry->bytes);
        buf_put_literal(out, "</data>");
    }
    buf_put_literal(out, "<td><time>");
    date_put_rfc3339(out, entry->modified, ' ');
    buf_put_literal(out, "</time>\n");
}

/* Puts an entry as a JSON object. Its size is null unless it is a file. */
static void put_object(struct buf *out, const struct listing_entry *entry)
{
    static const struct bytes types[] = {
        [LISTING_FILE] = {"file", 4},
        [LISTING_DIRECTORY] = {"directory", 9},
        [LISTING_OTHER] = {"other", 5},
    };

    buf_put_literal(out, "{\"name\":\"");
    buf_put_json(out, entry->name);
    buf_put_literal(out, "\",\"type\":\"");
    buf_put(out, types[entry->kind]);
    buf_put_literal(out, "\",\"size\":");
    if (entry->kind == LISTING_FILE)
        buf_put_number(out, entry->bytes);
    else
        buf_put_literal(out, "null");
    buf_put_literal(out, ",\"modified\":\"");
    date_put_rfc3339(out, entry->modified, 'T');
    buf_put_literal(out, "\"}");
}

/* --- Either format ------------------------------------------------------- */

void listing_describe(enum listing_format format, struct buf *head)
{
    head_field(head, BYTES("Content-Type"),
               format == LISTING_JSON ? BYTES("application/json")
                                      : BYTES("text/html; charset=utf-8"));
    buf_put_literal(head, LISTING_FIELDS);
    if (format == LISTING_HTML) /* the only image is the site's favicon */
        head_field(head, BYTES("Content-Security-Policy"),
                   BYTES("default-src 'none'; style-src '" STYLE_HASH "'; "
                         "script-src '" SCRIPT_HASH "'; img-src 'self'; "
                         "base-uri 'none'; form-action 'none'"));
}

void listing_put_intro(struct buf *out, enum listing_format format,
                       struct bytes path)
{
    if (format == LISTING_HTML) {
        put_page_intro(out, path);
        return;
    }
    buf_put_literal(out, "{\"path\":\"");
    buf_put_json(out, path);
    buf_put_literal(out, "\",\"entries\":[");
}

void listing_put_entry(struct buf *out, enum listing_format format,
                       const struct listing_entry *entry, uint64_t index)
{
    if (format == LISTING_HTML) {
        if (index % GROUP_ROWS == 0)
            buf_put_literal(out, "<tbody>\n");
        put_row(out, entry);
        return;
    }
    buf_put(out, index == 0 ? BYTES("\n") : BYTES(",\n"));
    put_object(out, entry);
}

void listing_put_outro(struct buf *out, enum listing_format format,
                       uint64_t count)
{
    if (format == LISTING_HTML)
        put_page_outro(out, count);
    else
        buf_put_literal(out, "\n]}\n");
}
