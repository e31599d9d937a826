/* link: -lbrotlidec -lz */
/*
 * Files that change under requests of all kinds, by seed: whatever comes is all
 * of one version, and an ETag stands for the same bytes for ever.
 */
#include <brotli/decode.h>
#include <openssl/evp.h>
#include <zlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "client.h"

enum {
    FILES = 4,
    LEN = 24000,
    HASH_BYTES = 32,
    VERSIONS_MAX = 400,
    TAGS_MAX = 4000,
    STEPS = 900,
    LONG_AGO = 1000000000
};

static struct server *server;

/* What is known of each file: how many versions there were. */
static unsigned versions[FILES];

/* How many replies came in a coding, and how many of these as deltas. */
static unsigned coded, deltas;

/* Which bytes an ETag stood for when it came first, of a file. */
static struct tag {
    unsigned file;
    char etag[64];
    size_t len;
    unsigned char hash[HASH_BYTES];
} tags[TAGS_MAX];
static size_t tag_count;

E2E_BEGIN(start)
{
    server = START("--workers=2", "--compress-threads=2", "--dictionary=/f*.js",
                   "--dictionary-versions=7",
                   printed("--state-directory=%s/state", folder()));
}

E2E_SUITE(start);

/* --- Lots ---------------------------------------------------------------- */

static uint64_t lot_state;

static unsigned lot(unsigned below)
{
    lot_state = lot_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(lot_state >> 33) % below;
}

/* --- Versions ------------------------------------------------------------ */

static size_t version_len(unsigned version)
{
    return LEN + version * 3;
}

/* Text that shrinks, most of which all versions of a file have alike. */
static char *text_of(unsigned file, unsigned version)
{
    size_t len = version_len(version);
    char *text = scratch(len + 1);
    char *bytes = scratch(len + 1);

    seeded_fill(file, 0, bytes, len);
    seeded_fill(1000 + version, 0, bytes + version % 50 * 400, 100);
    for (size_t i = 0; i < len; i++)
        text[i] = "0123456789abcdef"[bytes[i] & 15];
    text[len] = '\0';
    return text;
}

static void put_version(unsigned file)
{
    unsigned version = ++versions[file];
    const char *name = printed("f%u.js", file);
    const char *text = text_of(file, version);

    switch (version == 1 ? 0 : lot(3)) {
    case 0: /* truncated, and written into */
        site_write(name, text, version_len(version));
        break;
    case 1:
        site_replace(name, text, version_len(version));
        break;
    default:
        site_remove(name);
        site_write(name, text, version_len(version));
        break;
    }
    if (lot(2) == 0)
        site_date(name, LONG_AGO + (int64_t)version, 0);
}

/* --- What others unpack -------------------------------------------------- */

static bool unpack_gzip(const char *from, size_t len, char *to, size_t *to_len)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)from,
                       .avail_in = (uInt)len,
                       .next_out = (Bytef *)to,
                       .avail_out = (uInt)*to_len};
    bool is_right = inflateInit2(&stream, 15 + 16) == Z_OK &&
                    inflate(&stream, Z_FINISH) == Z_STREAM_END;

    *to_len = stream.total_out;
    inflateEnd(&stream);
    return is_right;
}

static bool unpack_zstd(const char *from, size_t len, struct bytes dictionary,
                        char *to, size_t *to_len)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_outBuffer out = {to, *to_len, 0};
    ZSTD_inBuffer in = {from, len, 0};
    size_t left = 1;

    /* A skippable frame takes no prefix with it: it goes before. */
    if (dictionary.len > 0) {
        in.pos = 40;
        if (ZSTD_isError(ZSTD_DCtx_refPrefix(context, dictionary.data,
                                             dictionary.len)))
            flunk("no prefix");
    }
    while (left > 0 && in.pos < in.size && !ZSTD_isError(left))
        left = ZSTD_decompressStream(context, &out, &in);
    ZSTD_freeDCtx(context);
    *to_len = out.pos;
    return left == 0;
}

static bool unpack(const struct reply *reply, struct bytes dictionary, char *to,
                   size_t *to_len)
{
    const char *coding = reply_field(reply, "Content-Encoding");
    bool is_right = true;

    coded += coding != NULL;
    deltas += coding && strcmp(coding, "dcz") == 0;
    if (!coding) {
        *to_len = reply->body_len;
        memcpy(to, reply->body, reply->body_len);
    } else if (strcmp(coding, "gzip") == 0) {
        is_right = unpack_gzip(reply->body, reply->body_len, to, to_len);
    } else if (strcmp(coding, "br") == 0) {
        is_right = BrotliDecoderDecompress(reply->body_len,
                                           (const uint8_t *)reply->body, to_len,
                                           (uint8_t *)to) ==
                   BROTLI_DECODER_RESULT_SUCCESS;
    } else {
        bool is_delta = strcmp(coding, "dcz") == 0;

        assert_true(is_delta || strcmp(coding, "zstd") == 0);
        assert_true(!is_delta || dictionary.len > 0);
        is_right = unpack_zstd(reply->body, reply->body_len,
                               is_delta ? dictionary : (struct bytes){NULL, 0},
                               to, to_len);
    }
    return is_right;
}

/* --- What is known of ETags ---------------------------------------------- */

static struct tag *find_tag(unsigned file, const char *etag)
{
    for (size_t i = 0; i < tag_count; i++)
        if (tags[i].file == file && strcmp(tags[i].etag, etag) == 0)
            return &tags[i];
    return NULL;
}

/* It stands for the body, as it did before. */
static void note_tag(unsigned file, const struct reply *reply)
{
    const char *etag = reply_field(reply, "ETag");
    unsigned char hash[HASH_BYTES];
    struct tag *tag;

    assert_non_null(etag);
    assert_int_equal(*etag, '"');
    assert_true(strlen(etag) < sizeof(tags[0].etag));
    assert_int_equal(EVP_Digest(reply->body, reply->body_len, hash, NULL,
                                EVP_sha256(), NULL),
                     1);
    tag = find_tag(file, etag);
    if (tag) {
        assert_int_equal(tag->len, reply->body_len);
        assert_memory_equal(tag->hash, hash, sizeof(hash));
        return;
    }
    if (tag_count == TAGS_MAX)
        return;
    tag = &tags[tag_count++];
    tag->file = file;
    snprintf(tag->etag, sizeof(tag->etag), "%s", etag);
    tag->len = reply->body_len;
    memcpy(tag->hash, hash, sizeof(hash));
}

/* --- Asking -------------------------------------------------------------- */

/* One earlier version of a file, maybe, and the field that offers it. */
static const char *offer(unsigned file, unsigned version)
{
    unsigned char hash[HASH_BYTES];
    char base64[48];

    assert_int_equal(EVP_Digest(text_of(file, version), version_len(version),
                                hash, NULL, EVP_sha256(), NULL),
                     1);
    EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
    return printed("Available-Dictionary: :%s:\r\n", base64);
}

/* All of it: what is sent is one of the versions there have been since it was
 * asked for last, which is the one there is, or one that is checked again
 * within a second. */
static void expect_version(unsigned file, const struct reply *reply,
                           struct bytes dictionary)
{
    size_t len = LEN + 3 * VERSIONS_MAX;
    char *text = scratch(len);
    unsigned version;

    if (!unpack(reply, dictionary, text, &len))
        flunk("file %u does not unpack", file);
    assert_true(len >= LEN && (len - LEN) % 3 == 0);
    version = (unsigned)(len - LEN) / 3;
    assert_true(version >= 1 && version <= versions[file]);
    assert_memory_equal(text, text_of(file, version), len);
}

static void ask_whole(struct client *client, unsigned file,
                      const char *accepted)
{
    unsigned from = 1 + lot(versions[file]);
    bool offers = lot(2) == 0;
    struct bytes dictionary = {NULL, 0};
    const char *fields = printed("Accept-Encoding: %s\r\n", accepted);
    struct reply *reply;

    if (offers) {
        dictionary = (struct bytes){text_of(file, from), version_len(from)};
        fields = printed("%s%s", fields, offer(file, from));
    }
    reply = client_ask(client, "GET", printed("/f%u.js", file), fields);
    expect_status(reply, 200);
    expect_version(file, reply, dictionary);
    note_tag(file, reply);
}

/* Of an ETag that came some time: it is still the same, or something else. */
static void ask_known(struct client *client, const char *accepted)
{
    const struct tag *tag;
    struct reply *reply;
    const char *fields;
    unsigned file;

    if (tag_count == 0)
        return;
    tag = &tags[lot((unsigned)tag_count)];
    file = tag->file;
    fields = printed("Accept-Encoding: %s\r\n%sIf-None-Match: %s\r\n", accepted,
                     offer(file, 1 + lot(versions[file])), tag->etag);
    reply = client_ask(client, "GET", printed("/f%u.js", file), fields);
    if (reply->status != 304) {
        expect_status(reply, 200);
        return;
    }
    expect_field(reply, "ETag", tag->etag);
}

static void ask_part(struct client *client, const char *accepted)
{
    const struct tag *tag;
    struct reply *reply;
    unsigned file;

    if (tag_count == 0)
        return;
    tag = &tags[lot((unsigned)tag_count)];
    file = tag->file;
    reply = client_ask(client, "GET", printed("/f%u.js", file),
                       printed("Accept-Encoding: %s\r\n%sIf-Range: %s\r\n"
                               "Range: bytes=0-\r\n",
                               accepted, offer(file, 1 + lot(versions[file])),
                               tag->etag));
    if (reply->status == 200)
        return;
    expect_status(reply, 206);
    expect_field(reply, "ETag", tag->etag);
    note_tag(file, reply);
}

/* --- Runs ---------------------------------------------------------------- */

static void run(uint64_t seed)
{
    static const char *const accepted[] = {
        "zstd, br, gzip, dcz", "dcz, zstd", "br",       "gzip",
        "zstd;q=0.5, gzip",    "dcz",       "identity", "*"};
    struct client *clients[3];

    lot_state = seed;
    going_on("seed %lu", (unsigned long)seed);
    for (size_t i = 0; i < 3; i++)
        clients[i] = client_open(server);
    for (unsigned step = 0; step < STEPS; step++) {
        struct client *client = clients[lot(3)];
        const char *codings = accepted[lot(8)];
        unsigned file = lot(FILES);

        if (versions[file] == 0 ||
            (lot(100) == 0 && versions[file] < VERSIONS_MAX))
            put_version(file);
        else if (lot(40) == 0)
            pause_ms(
                lot(300)); /* so that files get old, and threads their turn */
        else if (lot(5) == 0)
            ask_known(client, codings);
        else if (lot(5) == 0)
            ask_part(client, codings);
        else
            ask_whole(client, file, codings);
    }
}

TEST(an_etag_stands_for_the_same_bytes_and_these_for_one_version)
{
    for (uint64_t seed = 1; seed <= 2; seed++)
        run(seed);
    print_message("%u coded, %u deltas, %zu tags\n", coded, deltas, tag_count);
    assert_true(tag_count > 20 && coded > 0);
}
