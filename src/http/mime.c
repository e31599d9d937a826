#include "http/mime.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FILE_BYTES_MAX = 1 << 20,
    LINE_BYTES_MAX = 4096,
    ENTRIES_MIN = 256,
    /* The text of the table has at most this many times the bytes of the file.
     * A line of n bytes becomes at most n + 15 bytes, with MIME_CHARSET. The
     * shortest line, "a/b c" and its end, has 6 bytes and becomes 21, which is
     * less than four times as many. */
    GROWTH_MAX = 4
};

/* The format is that of /etc/mime.types: type, then extensions. */
static const char built_in[] =
    "text/html html htm\n"
    "text/css css\n"
    "text/javascript js mjs cjs\n"
    "text/plain txt text log conf ini\n"
    "text/markdown md markdown\n"
    "text/csv csv\n"
    "text/tab-separated-values tsv\n"
    "text/calendar ics\n"
    "text/vcard vcf\n"
    "text/vtt vtt\n"
    "application/json json map\n"
    "application/ld+json jsonld\n"
    "application/manifest+json webmanifest\n"
    "application/geo+json geojson\n"
    "application/xml xml xsl xsd\n"
    "application/xhtml+xml xhtml xht\n"
    "application/atom+xml atom\n"
    "application/rss+xml rss\n"
    "application/yaml yaml yml\n"
    "application/toml toml\n"
    "application/sql sql\n"
    "application/wasm wasm\n"
    "application/pdf pdf\n"
    "application/postscript ps eps\n"
    "application/rtf rtf\n"
    "application/epub+zip epub\n"
    "application/msword doc\n"
    "application/vnd.ms-excel xls\n"
    "application/vnd.ms-powerpoint ppt\n"
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    " docx\n"
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx\n"
    "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    " pptx\n"
    "application/vnd.oasis.opendocument.text odt\n"
    "application/vnd.oasis.opendocument.spreadsheet ods\n"
    "application/vnd.oasis.opendocument.presentation odp\n"
    "application/zip zip\n"
    "application/gzip gz tgz\n"
    "application/zstd zst\n"
    "application/x-brotli br\n"
    "application/x-bzip2 bz2\n"
    "application/x-xz xz\n"
    "application/x-7z-compressed 7z\n"
    "application/vnd.rar rar\n"
    "application/x-tar tar\n"
    "application/java-archive jar\n"
    "application/vnd.debian.binary-package deb\n"
    "application/x-rpm rpm\n"
    "application/vnd.android.package-archive apk\n"
    "application/x-apple-diskimage dmg\n"
    "application/octet-stream bin exe dll iso img\n"
    "application/vnd.apple.mpegurl m3u8\n"
    "application/dash+xml mpd\n"
    "application/vnd.sqlite3 sqlite db\n"
    "image/svg+xml svg\n"
    "image/png png\n"
    "image/apng apng\n"
    "image/jpeg jpg jpeg\n"
    "image/webp webp\n"
    "image/avif avif\n"
    "image/jxl jxl\n"
    "image/heic heic\n"
    "image/gif gif\n"
    "image/bmp bmp\n"
    "image/tiff tif tiff\n"
    "image/vnd.microsoft.icon ico\n"
    "font/woff woff\n"
    "font/woff2 woff2\n"
    "font/ttf ttf\n"
    "font/otf otf\n"
    "font/collection ttc\n"
    "application/vnd.ms-fontobject eot\n"
    "audio/mpeg mp3\n"
    "audio/mp4 m4a\n"
    "audio/aac aac\n"
    "audio/ogg ogg oga opus\n"
    "audio/flac flac\n"
    "audio/wav wav\n"
    "audio/webm weba\n"
    "audio/midi mid midi\n"
    "video/mp4 mp4 m4v\n"
    "video/webm webm\n"
    "video/ogg ogv\n"
    "video/quicktime mov\n"
    "video/matroska mkv\n"
    "video/x-msvideo avi\n"
    "video/mpeg mpeg mpg\n"
    "video/mp2t ts m2ts\n"
    "model/gltf+json gltf\n"
    "model/gltf-binary glb\n"
    "model/stl stl\n"
    "model/obj obj\n";

struct mime_entry {
    struct bytes extension; /* in lower case */
    struct bytes type;
};

/* While the table is filled, `text` has room for all types that are still to
 * come, and the entries stand in the order of the lines. When all lines have
 * been read, the entries are sorted. */
struct mime {
    struct mime_entry *entries;
    size_t count;
    size_t capacity;
    char *text;
    size_t text_len;
};

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

static bool is_alnum(char c)
{
    return (byte_lower(c) >= 'a' && byte_lower(c) <= 'z') || byte_is_digit(c);
}

static bool is_token(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_alnum(text.data[i]) &&
            !is_one_of(text.data[i], "!#$%&'*+-.^_`|~"))
            return false;
    return text.len > 0;
}

bool mime_is_type(struct bytes text)
{
    const char *slash = memchr(text.data, '/', text.len);

    return slash && is_token(bytes_between(text.data, slash)) &&
           is_token(bytes_between(slash + 1, text.data + text.len));
}

static bool is_extension(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_alnum(text.data[i]) && !is_one_of(text.data[i], "+_-"))
            return false;
    return text.len > 0;
}

static bool ends_in(struct bytes text, struct bytes end)
{
    return text.len >= end.len &&
           bytes_ieq((struct bytes){text.data + text.len - end.len, end.len},
                     end);
}

bool mime_is_text(struct bytes type)
{
    return (type.len > 5 &&
            bytes_ieq((struct bytes){type.data, 5}, BYTES("text/"))) ||
           bytes_ieq(type, BYTES("application/javascript")) ||
           bytes_ieq(type, BYTES("application/json")) ||
           bytes_ieq(type, BYTES("application/xml")) ||
           ends_in(type, BYTES("+json")) || ends_in(type, BYTES("+xml"));
}

/* Takes the next word of a line, or an empty one. */
static struct bytes take_word(struct bytes *line)
{
    struct bytes word;

    while (line->len > 0 && is_one_of(*line->data, " \t\r")) {
        line->data++;
        line->len--;
    }
    word = (struct bytes){line->data, 0};
    while (line->len > 0 && !is_one_of(*line->data, " \t\r")) {
        line->data++;
        line->len--;
        word.len++;
    }
    return word;
}

static struct bytes add_text(struct mime *mime, struct bytes text)
{
    char *to = mime->text + mime->text_len;

    memcpy(to, text.data, text.len);
    mime->text_len += text.len;
    return (struct bytes){to, text.len};
}

static bool add_entry(struct mime *mime, struct bytes extension,
                      struct bytes type)
{
    char *text = mime->text + mime->text_len;

    if (mime->count == mime->capacity) {
        size_t capacity = mime->capacity ? 2 * mime->capacity : ENTRIES_MIN;
        struct mime_entry *entries = realloc(mime->entries,
                                             capacity * sizeof(*entries));

        if (!entries)
            return false;
        mime->entries = entries;
        mime->capacity = capacity;
    }
    extension = add_text(mime, extension);
    for (size_t i = 0; i < extension.len; i++)
        text[i] = byte_lower(text[i]);
    mime->entries[mime->count++] = (struct mime_entry){extension, type};
    return true;
}

/* Adds the types of a line. Returns false when memory is short. */
static bool add_line(struct mime *mime, struct bytes line)
{
    struct bytes type = take_word(&line);
    struct bytes extension;
    bool is_copied = false;

    if (!mime_is_type(type) || *type.data == '#')
        return true;
    while ((extension = take_word(&line)).len > 0) {
        if (*extension.data == '#')
            break;
        if (!is_extension(extension))
            continue;
        if (!is_copied) {
            bool is_utf8 = mime_is_text(type);

            type = add_text(mime, type);
            if (is_utf8)
                type.len += add_text(mime, BYTES(MIME_CHARSET)).len;
            is_copied = true;
        }
        if (!add_entry(mime, extension, type))
            return false;
    }
    return true;
}

static bool add_lines(struct mime *mime, struct bytes text)
{
    const char *at = text.data;
    const char *end = text.data + text.len;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct bytes line = bytes_between(at, stop ? stop : end);

        if (line.len <= LINE_BYTES_MAX && !add_line(mime, line))
            return false;
        at = stop ? stop + 1 : end;
    }
    return true;
}

/* Compares two texts without regard to case, as strcmp(3) does. */
static int compare(struct bytes a, struct bytes b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int order = byte_lower(a.data[i]) - byte_lower(b.data[i]);

        if (order != 0)
            return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

/* Entries with equal extensions are ordered by age: the extension of a later
 * entry lies further behind in the table's text. */
static int compare_entries(const void *a, const void *b)
{
    const struct mime_entry *left = a, *right = b;
    int order = compare(left->extension, right->extension);

    return order != 0 ? order
                      : (left->extension.data > right->extension.data) -
                            (left->extension.data < right->extension.data);
}

static int compare_key(const void *key, const void *entry)
{
    return compare(*(const struct bytes *)key,
                   ((const struct mime_entry *)entry)->extension);
}

/* Sorts the entries. Of entries with the same extension the last one stays. */
static void sort(struct mime *mime)
{
    struct mime_entry *entries = mime->entries;
    size_t kept = 0;

    assert(entries); /* there are always those of built_in */
    qsort(entries, mime->count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < mime->count; i++)
        if (i + 1 == mime->count ||
            compare(entries[i].extension, entries[i + 1].extension) != 0)
            entries[kept++] = entries[i];
    mime->count = kept;
}

/* Reads a file. Returns an empty text when the file is missing, or too large to
 * be a list of types. */
static struct bytes read_file(const char *path, char text[FILE_BYTES_MAX])
{
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t len = 0;

    if (file) {
        len = fread(text, 1, FILE_BYTES_MAX, file);
        fclose(file);
    }
    return (struct bytes){text, len < FILE_BYTES_MAX ? len : 0};
}

struct mime *mime_create(const char *types_file)
{
    struct mime *mime = calloc(1, sizeof(*mime));
    char *file = malloc(FILE_BYTES_MAX);
    struct bytes types;
    bool filled = false;

    if (mime && file) {
        types = read_file(types_file, file);
        mime->text = malloc(GROWTH_MAX * (sizeof(built_in) + types.len));
        filled = mime->text && add_lines(mime, types) &&
                 add_lines(mime, BYTES(built_in));
    }
    free(file);
    if (!filled) {
        mime_destroy(mime);
        return NULL;
    }
    sort(mime);
    return mime;
}

void mime_destroy(struct mime *mime)
{
    if (!mime)
        return;
    free(mime->entries);
    free(mime->text);
    free(mime);
}

struct bytes mime_find(const struct mime *mime, struct bytes path)
{
    const struct mime_entry *entry = NULL;
    const char *end = path.data + path.len;
    const char *at = end;

    while (at > path.data && at[-1] != '.' && at[-1] != '/')
        at--;
    if (at > path.data && at[-1] == '.') {
        struct bytes extension = bytes_between(at, end);

        entry = bsearch(&extension, mime->entries, mime->count, sizeof(*entry),
                        compare_key);
    }
    return entry ? entry->type : BYTES("application/octet-stream");
}
