/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "http/mime.h"

#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"

#define UNKNOWN "application/octet-stream"

/* --- What the tests use ------------------------------------------------- */

static struct mime *create_from(struct bytes types)
{
    struct mime *mime;

    assert_int_equal(place_write_bytes(&test_place, "types", types.data,
                                       types.len),
                     0);
    mime = mime_create(place_path(&test_place, "types"));
    assert_non_null(mime);
    return mime;
}

static void assert_type(const struct mime *mime, const char *path,
                        const char *type)
{
    struct bytes found = mime_find(mime, bytes_of(path));

    if (!bytes_eq(found, bytes_of(type)))
        fail_msg("%s is %.*s, not %s", path, (int)found.len, found.data, type);
}

struct type_case {
    const char *path;
    const char *type;
};

static void check(const struct mime *mime, const struct type_case *cases,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_type(mime, cases[i].path, cases[i].type);
}

#define CHECK(mime, cases) \
    check((mime), (cases), sizeof(cases) / sizeof(*(cases)))

/* --- The built-in table ------------------------------------------------- */

TEST_WITH(types_of_the_web_are_built_in, NULL, NULL)
{
    static const struct type_case cases[] = {
        {"/index.html", "text/html; charset=utf-8"},
        {"/index.htm", "text/html; charset=utf-8"},
        {"/a.css", "text/css; charset=utf-8"},
        {"/a.js", "text/javascript; charset=utf-8"},
        {"/a.mjs", "text/javascript; charset=utf-8"},
        {"/a.txt", "text/plain; charset=utf-8"},
        {"/a.md", "text/markdown; charset=utf-8"},
        {"/a.csv", "text/csv; charset=utf-8"},
        {"/a.vtt", "text/vtt; charset=utf-8"},
        {"/a.json", "application/json; charset=utf-8"},
        {"/a.js.map", "application/json; charset=utf-8"},
        {"/a.webmanifest", "application/manifest+json; charset=utf-8"},
        {"/a.xml", "application/xml; charset=utf-8"},
        {"/a.xhtml", "application/xhtml+xml; charset=utf-8"},
        {"/a.atom", "application/atom+xml; charset=utf-8"},
        {"/a.svg", "image/svg+xml; charset=utf-8"},
        {"/a.wasm", "application/wasm"},
        {"/a.pdf", "application/pdf"},
        {"/a.zip", "application/zip"},
        {"/a.tar", "application/x-tar"},
        {"/a.tar.gz", "application/gzip"},
        {"/a.zst", "application/zstd"},
        {"/a.br", "application/x-brotli"},
        {"/a.png", "image/png"},
        {"/a.jpg", "image/jpeg"},
        {"/a.jpeg", "image/jpeg"},
        {"/a.gif", "image/gif"},
        {"/a.webp", "image/webp"},
        {"/a.avif", "image/avif"},
        {"/favicon.ico", "image/vnd.microsoft.icon"},
        {"/a.woff", "font/woff"},
        {"/a.woff2", "font/woff2"},
        {"/a.ttf", "font/ttf"},
        {"/a.mp3", "audio/mpeg"},
        {"/a.mp4", "video/mp4"},
        {"/a.webm", "video/webm"},
        {"/a.7z", "application/x-7z-compressed"},
        {"/a.docx", "application/vnd.openxmlformats-officedocument"
                    ".wordprocessingml.document"},
        {"/a.bin", "application/octet-stream"},
    };
    struct mime *mime = mime_create(NULL);

    CHECK(mime, cases);
    mime_destroy(mime);
}

TEST_WITH(the_last_dot_of_the_last_segment_counts, NULL, NULL)
{
    static const struct type_case cases[] = {
        {"", UNKNOWN},
        {"/", UNKNOWN},
        {".", UNKNOWN},
        {"..", UNKNOWN},
        {"/.", UNKNOWN},
        {"/html", UNKNOWN},
        {"html", UNKNOWN},
        {"/a.", UNKNOWN},
        {"/a.html.", UNKNOWN},
        {"/a.html/", UNKNOWN},
        {"/a.html/b", UNKNOWN},
        {"/a.html/b.", UNKNOWN},
        {"/a.png/b.html", "text/html; charset=utf-8"},
        {"/a.png.html", "text/html; charset=utf-8"},
        {"a.html", "text/html; charset=utf-8"},
        {"/.html", "text/html; charset=utf-8"},
        {"/..html", "text/html; charset=utf-8"},
        {"/a.htm ", UNKNOWN},
        {"/a. html", UNKNOWN},
        {"/a.htmlx", UNKNOWN},
        {"/a.ht", UNKNOWN},
        {"/a.unknown", UNKNOWN},
        {"/a.\xff", UNKNOWN},
    };
    struct mime *mime = mime_create(NULL);

    CHECK(mime, cases);
    assert_true(bytes_eq(mime_find(mime, BYTES("/a.html\0")), BYTES(UNKNOWN)));
    mime_destroy(mime);
}

TEST(case_is_ignored)
{
    struct mime *mime = create_from(BYTES("Text/X-Shout SHOUT Low\n"));

    assert_type(mime, "/A.HTML", "text/html; charset=utf-8");
    assert_type(mime, "/a.JpG", "image/jpeg");
    assert_type(mime, "/a.shout", "Text/X-Shout; charset=utf-8");
    assert_type(mime, "/a.LOW", "Text/X-Shout; charset=utf-8");
    mime_destroy(mime);
}

/* --- The file ----------------------------------------------------------- */

TEST(a_file_adds_to_the_built_in_types)
{
    static const struct type_case cases[] = {
        {"/a.html", "text/html; charset=utf-8"},
        {"/a.ts", "video/mp2t"},
        {"/a.RSS", "application/rss+xml; charset=utf-8"},
        {"/a.new", "application/x-mine"},
        {"/a.c++", "application/x-mine"},
        {"/a.x_1-2", "application/x-mine"},
        {"/a.htm", "text/html; charset=utf-8"},
        {"/a.css", "text/css; charset=utf-8"},
        {"/a.later", "audio/later"},
        {"/a.last", "text/last; charset=utf-8"},
    };
    struct mime *mime =
        create_from(BYTES("# types of mine\n"
                          "\n"
                          "text/vnd.trolltech.linguist\tts\n"
                          "application/x-rss+xml rss\n"
                          "application/x-mine html new  c++\tx_1-2\t\n"
                          "video/none\n"
                          "audio/first later\r\n"
                          "\taudio/later later\r\n"
                          "text/last last"));

    CHECK(mime, cases);
    mime_destroy(mime);
}

TEST(text_types_carry_a_charset)
{
    static const struct type_case cases[] = {
        {"/.t1", "text/x; charset=utf-8"},
        {"/.t2", "TEXT/x; charset=utf-8"},
        {"/.t3", "application/javascript; charset=utf-8"},
        {"/.t4", "application/json; charset=utf-8"},
        {"/.t5", "application/xml; charset=utf-8"},
        {"/.t6", "model/x+xml; charset=utf-8"},
        {"/.t7", "model/x+json; charset=utf-8"},
        {"/.n1", "texts/x"},
        {"/.n2", "application/json5"},
        {"/.n3", "application/x+xmls"},
        {"/.n4", "application/xxml"},
        {"/.n5", "image/text"},
    };
    struct mime *mime = create_from(BYTES("text/x t1\n"
                                          "TEXT/x t2\n"
                                          "application/javascript t3\n"
                                          "application/json t4\n"
                                          "application/xml t5\n"
                                          "model/x+xml t6\n"
                                          "model/x+json t7\n"
                                          "texts/x n1\n"
                                          "application/json5 n2\n"
                                          "application/x+xmls n3\n"
                                          "application/xxml n4\n"
                                          "image/text n5\n"));

    CHECK(mime, cases);
    mime_destroy(mime);
}

TEST(what_is_malformed_is_skipped)
{
    static const char *const unknown[] = {"/.b1", "/.b2", "/.b3", "/.b4",
                                          "/.b5", "/.b6", "/.b7", "/.b8",
                                          "/.b9", "/.c1", "/.c2", "/.c3"};
    struct mime *mime = create_from(
        BYTES("noslash b1\n"
              "/empty b2\n"
              "empty/ b3\n"
              "two/sla/shes b4\n"
              "a/b; b5\n"
              "a/b;charset=x b6\n"
              "a/\"b\" b7\n"
              "#a/b b8\n"
              "# a/b b9\n"
              "a/b\0 c1\n"
              "a/\xc3\xa9 c2\n"
              "ok/before good1 b.ad ba/d b\"ad \xff \x01 good2 # c3\n"
              "ok/after good3\n"));

    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_type(mime, unknown[i], UNKNOWN);
    assert_type(mime, "/a.good1", "ok/before");
    assert_type(mime, "/a.good2", "ok/before");
    assert_type(mime, "/a.good3", "ok/after");
    assert_type(mime, "/a.ad", UNKNOWN);
    assert_type(mime, "/a.b\"ad", UNKNOWN);
    assert_type(mime, "/a.html", "text/html; charset=utf-8");
    mime_destroy(mime);
}

TEST(a_line_over_four_kibibytes_is_skipped)
{
    static char text[3 * 4096 + 64];
    struct mime *mime;
    size_t len;

    /* Exactly 4096 bytes, then one more. */
    len = (size_t)snprintf(text, sizeof(text),
                           "a/fits%*s\na/long%*s\na/after after\n", 4090,
                           "fits", 4091, "long");
    mime = create_from((struct bytes){text, len});
    assert_type(mime, "/a.fits", "a/fits");
    assert_type(mime, "/a.long", UNKNOWN);
    assert_type(mime, "/a.after", "a/after");
    mime_destroy(mime);
}

TEST(a_file_of_a_mebibyte_is_not_used)
{
    size_t len = 1 << 20;
    char *text = malloc(len);
    struct mime *mime;

    /* The most text and the most entries that a file can become. */
    for (size_t i = 0; i < len; i++)
        text[i] = (i < 9 ? "a/b mine\n" : "text/x y\n")[i % 9];
    mime = create_from((struct bytes){text, len});
    assert_type(mime, "/a.mine", UNKNOWN);
    assert_type(mime, "/a.y", UNKNOWN);
    mime_destroy(mime);
    mime = create_from((struct bytes){text, len - 1});
    assert_type(mime, "/a.mine", "a/b");
    assert_type(mime, "/a.y", "text/x; charset=utf-8");
    mime_destroy(mime);
    free(text);
}

TEST(a_file_of_many_extensions_is_taken)
{
    static char text[200000];
    char path[32];
    char type[32];
    size_t len = 0;
    struct mime *mime;

    for (int i = 0; i < 5000; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "a/t%d e%d f%d\n", i, i, i * 7919 % 5000);
    mime = create_from((struct bytes){text, len});
    for (int i = 0; i < 5000; i++) {
        snprintf(path, sizeof(path), "/x.e%d", i);
        snprintf(type, sizeof(type), "a/t%d", i);
        assert_type(mime, path, type);
        snprintf(path, sizeof(path), "/x.f%d", i * 7919 % 5000);
        assert_type(mime, path, type);
    }
    mime_destroy(mime);
}

TEST_WITH(without_a_file_the_built_in_types_are_there, NULL, NULL)
{
    static const char *const files[] = {
        NULL, "", "/", "/dev/null", "/dev/zero", "/tmp/no/such/file"};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct mime *mime = mime_create(files[i]);

        assert_non_null(mime);
        assert_type(mime, "/a.html", "text/html; charset=utf-8");
        mime_destroy(mime);
    }
}

TEST_WITH(without_memory_there_is_none, NULL, NULL)
{
    struct mime *mime = NULL;
    int needed = 0;

    for (; !mime; needed++) {
        allocations_left = needed;
        mime = mime_create("/tmp/no/such/file");
        allocations_left = -1;
        assert_true(needed < 100);
    }
    assert_true(needed > 3);
    mime_destroy(mime);
    mime_destroy(NULL);
}

SUITE(.each_begin = place_begin, .each_end = place_end);
