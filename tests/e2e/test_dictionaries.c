/*
 * Deltas against what a client has already (RFC 9842): who is offered a
 * dictionary, who is sent a difference and what others unpack of it, and what
 * is kept of releases that are gone.
 */
#include <dirent.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include "client.h"
#include "configured.h"
#include "h2_client.h"
#include "operator.h"

enum { LONG_AGO = 1000000000, MADE_MS = 10000, LEN = 100000, HASH_BYTES = 32 };

#define RULE "--dictionary=/assets/app.*.js"
#define TAKES "Accept-Encoding: gzip, deflate, br, zstd, dcb, dcz\r\n"

/* --- Versions ------------------------------------------------------------ */

/* Hexadecimal digits, of which each version has some of its own. */
static char *text_of(unsigned version)
{
    char *text = scratch(LEN + 1);
    char *bytes = scratch(LEN / 2 + 1);

    seeded_fill(7, 0, bytes, LEN / 2 + 1);
    seeded_fill(100 + version, 0, bytes + LEN / 8 + version * 150, 120);
    for (size_t i = 0; i < LEN; i++)
        text[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 * 4) & 15];
    text[LEN] = '\0';
    return text;
}

/* It is no longer young when it is asked for. */
static void write_as(const char *name, unsigned version)
{
    site_write(name, text_of(version), LEN);
    site_date(name, LONG_AGO + (int64_t)version, 0);
    pause_ms(150);
}

static const char *name_of(unsigned version)
{
    return printed("assets/app.%u.js", version);
}

static const char *target_of(unsigned version)
{
    return printed("/%s", name_of(version));
}

static void hash_of(unsigned version, unsigned char hash[HASH_BYTES])
{
    assert_int_equal(EVP_Digest(text_of(version), LEN, hash, NULL, EVP_sha256(),
                                NULL),
                     1);
}

/* What a client says that has that version. */
static const char *value_of(unsigned version)
{
    unsigned char hash[HASH_BYTES];
    char base64[48];

    hash_of(version, hash);
    EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
    return printed(":%s:", base64);
}

static const char *has(unsigned version)
{
    return printed("Available-Dictionary: %s\r\n", value_of(version));
}

/* --- The server and its folder ------------------------------------------- */

static const char *state_place(void)
{
    return printed("%s/state", folder());
}

static const char *state_argument(void)
{
    return printed("--state-directory=%s", state_place());
}

#define START_DICT(...) START(state_argument(), __VA_ARGS__)

static int clean(void **unused)
{
    (void)unused;
    return system(printed("rm -rf %s %s/assets", state_place(), site())) == 0
               ? 0
               : -1;
}

SUITE(.begin = harness_begin, .end = harness_end, .each_begin = clean,
      .each_end = harness_after_test);

static bool is_hash(const char *name, unsigned version)
{
    unsigned char hash[HASH_BYTES];
    char text[2 * HASH_BYTES + 1];

    hash_of(version, hash);
    for (size_t i = 0; i < HASH_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return strlen(name) > 64 && strcmp(name + strlen(name) - 64, text) == 0;
}

/* The name of what is kept of a version; NULL: nothing. */
static const char *find_kept(unsigned version)
{
    DIR *kept = opendir(printed("%s/dictionaries", state_place()));
    const char *found = NULL;
    struct dirent *entry;

    assert_non_null(kept);
    while ((entry = readdir(kept)))
        if (*entry->d_name != '.' && is_hash(entry->d_name, version))
            found = printed("%s/dictionaries/%s", state_place(), entry->d_name);
    closedir(kept);
    return found;
}

static unsigned count_kept(void)
{
    DIR *kept = opendir(printed("%s/dictionaries", state_place()));
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(kept);
    while ((entry = readdir(kept)))
        count += *entry->d_name != '.';
    closedir(kept);
    return count;
}

/* --- Asking -------------------------------------------------------------- */

static bool is_delta(const struct reply *reply)
{
    const char *coding = reply_field(reply, "Content-Encoding");

    return coding && strcmp(coding, "dcz") == 0;
}

static struct reply *fetch(struct client *client, const char *target,
                           const char *fields)
{
    struct reply *reply = client_ask(client, "GET", target, fields);

    expect_status(reply, 200);
    return reply;
}

/* Until it is kept. */
static void publish(struct client *client, unsigned version)
{
    write_as(name_of(version), version);
    if (!eventually((fetch(client, target_of(version), TAKES),
                     find_kept(version) != NULL),
                    MADE_MS))
        flunk("version %u is never kept", version);
}

static struct reply *await_delta(struct client *client, const char *target,
                                 unsigned version)
{
    struct reply *reply;

    if (!eventually((reply = fetch(client, target,
                                   printed(TAKES "%s", has(version))),
                     is_delta(reply)),
                    MADE_MS))
        flunk("%s is never sent by version %u", target, version);
    return reply;
}

static void save(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* It is a delta from one version to another, as the zstd program unpacks it. */
static void expect_delta(const char *body, size_t body_len, unsigned from,
                         unsigned to)
{
    static const unsigned char magic[] = {0x5e, 0x2a, 0x4d, 0x18,
                                          0x20, 0,    0,    0};
    const char *delta = printed("%s/delta", folder());
    const char *dictionary = printed("%s/dictionary", folder());
    const char *plain = printed("%s/plain", folder());
    unsigned char hash[HASH_BYTES];
    const char *text;
    size_t len;

    hash_of(from, hash);
    assert_true(body_len > 40 && body_len < LEN / 40);
    assert_memory_equal(body, magic, sizeof(magic));
    assert_memory_equal(body + sizeof(magic), hash, sizeof(hash));
    save(delta, body, body_len);
    save(dictionary, text_of(from), LEN);
    assert_int_equal(system(printed("zstd -dqf --patch-from=%s %s -o %s",
                                    dictionary, delta, plain)),
                     0);
    text = read_text(plain, &len);
    assert_int_equal(len, LEN);
    assert_memory_equal(text, text_of(to), LEN);
}

static void expect_reply_delta(const struct reply *reply, unsigned from,
                               unsigned to)
{
    expect_delta(reply->body, reply->body_len, from, to);
}

/* --- Who gets what ------------------------------------------------------- */

TEST(who_has_a_version_gets_the_next_as_the_difference)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=2"));
    struct reply *reply;

    publish(client, 1);
    reply = fetch(client, "/assets/app.1.js", TAKES);
    expect_field(reply, "Use-As-Dictionary", "match=\"/assets/app.*.js\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
    write_as("assets/app.2.js", 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    expect_reply_delta(reply, 1, 2);
    expect_field(reply, "Use-As-Dictionary", "match=\"/assets/app.*.js\"");
    expect_field(reply, "Vary", "Accept-Encoding, Available-Dictionary");
    expect_field(reply, "Content-Type", "text/javascript; charset=utf-8");
    reply = fetch(client, "/assets/app.2.js", TAKES);
    assert_false(is_delta(reply));
    assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
}

TEST(a_file_that_keeps_its_name_is_sent_by_what_it_was)
{
    struct client *client = client_open(START("--dictionary=/assets/app.js",
                                              state_argument()));

    write_as("assets/app.js", 1);
    assert_true(eventually((fetch(client, "/assets/app.js", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    site_replace("assets/app.js", text_of(2), LEN);
    site_date("assets/app.js", LONG_AGO + 2, 0);
    expect_reply_delta(await_delta(client, "/assets/app.js", 1), 1, 2);
}

TEST(nobody_else_gets_a_difference)
{
    const char *one = has(1);
    const struct {
        const char *why;
        const char *fields;
    } cases[] = {
        {"no dictionary", TAKES},
        {"unknown", printed(TAKES "%s", has(9))},
        {"the same", printed(TAKES "%s", has(2))},
        {"not taken", printed("Accept-Encoding: zstd\r\n%s", one)},
        {"refused", printed("Accept-Encoding: zstd, dcz;q=0\r\n%s", one)},
        {"less liked", printed("Accept-Encoding: br, dcz;q=0.9\r\n%s", one)},
        {"a star", printed("Accept-Encoding: *\r\n%s", one)},
        {"dcb alone", printed("Accept-Encoding: dcb\r\n%s", one)},
        {"twice", printed(TAKES "%s%s", one, one)},
        {"no colon", printed(TAKES "%.*s\r\n", (int)strlen(one) - 3, one)},
        {"a parameter",
         printed(TAKES "%.*s;a=1\r\n", (int)strlen(one) - 2, one)},
        {"short", TAKES "Available-Dictionary: :AAAA:\r\n"},
        {"nothing", TAKES "Available-Dictionary: ::\r\n"},
        {"no base64", TAKES "Available-Dictionary: :!!!!!!!!!!!!!!!!!!!!!!!!"
                            "!!!!!!!!!!!!!!!!!!!!:\r\n"},
        {"another site", printed(TAKES "%sSec-Fetch-Site: cross-site\r\n"
                                       "Sec-Fetch-Mode: no-cors\r\n",
                                 one)},
        {"CORS", printed(TAKES "%sSec-Fetch-Site: same-site\r\n"
                               "Sec-Fetch-Mode: cors\r\n"
                               "Origin: http://other.localhost\r\n",
                         one)}};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    publish(client, 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].why);
        assert_false(is_delta(fetch(client, "/assets/app.2.js",
                                    cases[i].fields)));
    }
}

TEST(browsers_get_it_of_their_own_origin)
{
    static const char *const fields[] = {
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n",
        "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    write_as("assets/app.2.js", 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        going_on("%s", fields[i]);
        assert_true(is_delta(fetch(client, "/assets/app.2.js",
                                   printed(TAKES "%s%s", has(1), fields[i]))));
    }
}

TEST(in_clear_text_only_this_machine_is_told)
{
    static const struct {
        const char *host;
        bool is_told;
    } cases[] = {{"localhost:3000", true}, {"app.localhost", true},
                 {"127.0.0.1:3000", true}, {"[::1]:3000", true},
                 {"example.org", false},   {"192.0.2.1", false},
                 {"localhost.org", false}, {"notlocalhost", false},
                 {"127.0.0.1.org", false}};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    write_as("assets/app.2.js", 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = client_ask_host(client, "GET", cases[i].host,
                                              "/assets/app.2.js",
                                              printed(TAKES "%s", has(1)));

        going_on("%s", cases[i].host);
        expect_status(reply, 200);
        assert_true(is_delta(reply) == cases[i].is_told);
        assert_true((reply_field(reply, "Use-As-Dictionary") != NULL) ==
                    cases[i].is_told);
        assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
    }
}

TEST(by_tls_anybody_is_told_over_both_protocols)
{
    struct server *server =
        server_start(&(struct launch){.is_tls = true},
                     (const char *const[]){RULE, state_argument(), NULL});
    struct client *client = client_open(server);
    struct h2_reply *reply;
    struct h2 *h2;

    publish(client, 1);
    write_as("assets/app.2.js", 2);
    expect_reply_delta(await_delta(client, "/assets/app.2.js", 1), 1, 2);
    assert_true(is_delta(client_ask_host(client, "GET", "example.org",
                                         "/assets/app.2.js",
                                         printed(TAKES "%s", has(1)))));
    h2 = h2_open(server);
    assert_true(eventually((reply = h2_get_with(h2, "/assets/app.2.js",
                                                H2_WITH("accept-encoding",
                                                        "zstd, dcz",
                                                        "available-dictionary",
                                                        value_of(1))),
                            expect_h2(reply, 200), reply->body_len < LEN / 40),
                           MADE_MS));
    expect_h2_field(reply, "content-encoding", "dcz");
    expect_h2_field(reply, "use-as-dictionary", "match=\"/assets/app.*.js\"");
    expect_delta(reply->body, reply->body_len, 1, 2);
}

/* --- Conditions and ranges ----------------------------------------------- */

TEST(a_delta_has_conditions_and_ranges_of_its_own)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));
    struct reply *reply;
    const char *etag;
    char *whole;
    size_t len;

    publish(client, 1);
    write_as("assets/app.2.js", 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    etag = printed("%s", reply_field(reply, "ETag"));
    assert_int_equal(*etag, '"'); /* strong */
    len = reply->body_len;
    whole = scratch(len);
    memcpy(whole, reply->body, len);
    reply = client_ask(client, "GET", "/assets/app.2.js",
                       printed(TAKES "%sIf-Range: %s\r\nRange: bytes=50-99\r\n",
                               has(1), etag));
    expect_status(reply, 206);
    expect_field(reply, "Content-Encoding", "dcz");
    expect_field(reply, "Content-Range", printed("bytes 50-99/%zu", len));
    assert_memory_equal(reply->body, whole + 50, 50);
    assert_true(client_say(client,
                           "HEAD /assets/app.2.js HTTP/1.1\r\nHost: "
                           "localhost\r\n" TAKES "%s\r\n",
                           has(1)));
    reply = client_reply_to_head(client);
    expect_field(reply, "Content-Encoding", "dcz");
    expect_field(reply, "ETag", etag);
    assert_int_equal(reply->length, len);
    assert_non_null(reply_field(reply, "Use-As-Dictionary"));
}

/* A browser offers what it has last got, which is the file itself by now. */
TEST(who_names_the_etag_of_a_delta_has_that_version_whatever_it_offers)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));
    struct reply *reply;
    const char *etag;

    publish(client, 1);
    publish(client, 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    etag = printed("%s", reply_field(reply, "ETag"));
    for (unsigned version = 1; version <= 3; version++) {
        reply = client_ask(client, "GET", "/assets/app.2.js",
                           printed(TAKES "%sIf-None-Match: \"x\", %s\r\n",
                                   has(version), etag));
        expect_status(reply, 304);
        expect_field(reply, "ETag", etag);
        expect_field(reply, "Vary", "Accept-Encoding, Available-Dictionary");
    }
    write_as("assets/app.2.js", 3);
    assert_true(
        eventually((reply = client_ask(client, "GET", "/assets/app.2.js",
                                       printed(TAKES "%sIf-None-Match: %s\r\n",
                                               has(2), etag)),
                    reply->status == 200),
                   MADE_MS));
}

/* --- What is kept -------------------------------------------------------- */

TEST(what_is_kept_outlives_the_release_and_the_server)
{
    struct server *server = START_DICT(RULE, "--workers=2");

    publish(client_open(server), 1);
    server_stop(server);
    site_remove("assets/app.1.js");
    write_as("assets/app.2.js", 2);
    server = START_DICT(RULE, "--workers=2");
    expect_reply_delta(await_delta(client_open(server), "/assets/app.2.js", 1),
                       1, 2);
}

TEST(so_many_versions_are_kept_and_those_are_the_newest)
{
    struct client *client = client_open(START_DICT(RULE,
                                                   "--dictionary-versions=2"));

    for (unsigned version = 1; version <= 4; version++)
        publish(client, version);
    assert_true(eventually(count_kept() == 3, MADE_MS));
    assert_null(find_kept(1));
    for (unsigned version = 2; version <= 3; version++)
        expect_reply_delta(await_delta(client, "/assets/app.4.js", version),
                           version, 4);
    write_as("assets/app.0.js", 0);
    for (int i = 0; i < 20; i++) {
        fetch(client, "/assets/app.0.js", TAKES);
        pause_ms(50);
    }
    assert_null(find_kept(0));
    assert_int_equal(count_kept(), 3);
}

TEST(what_is_damaged_is_never_used_and_goes)
{
    struct server *server = START_DICT(RULE, "--workers=1");
    struct client *client = client_open(server);
    const char *path;
    char *text = text_of(1);

    publish(client, 1);
    publish(client, 2);
    path = find_kept(1);
    text[1000] ^= 1;
    save(path, text, LEN);
    write_as("assets/app.3.js", 3);
    expect_reply_delta(await_delta(client, "/assets/app.3.js", 2), 2, 3);
    assert_true(
        eventually((assert_false(is_delta(fetch(client, "/assets/app.3.js",
                                                printed(TAKES "%s", has(1))))),
                    find_kept(1) == NULL),
                   MADE_MS));
    server_stop(server);
    path = find_kept(2);
    save(path, text, LEN / 2);
    server = START_DICT(RULE, "--workers=1");
    assert_true(eventually(find_kept(2) == NULL, MADE_MS));
    assert_false(is_delta(fetch(client_open(server), "/assets/app.3.js",
                                printed(TAKES "%s", has(2)))));
}

TEST(strangers_files_in_the_folder_are_left_alone)
{
    struct server *server;
    const char *other;

    assert_int_equal(system(printed("mkdir -p %s/dictionaries", state_place())),
                     0);
    other = printed("%s/dictionaries/README", state_place());
    save(other, "mine\n", 5);
    server = START_DICT(RULE, "--workers=1");
    publish(client_open(server), 1);
    server_stop(server);
    assert_string_equal(read_text(other, NULL), "mine\n");
}

TEST(each_site_has_its_own)
{
    const char *config = printed("state-directory = \"%s\"\n"
                                 "site one {\n hosts = {one.localhost}\n"
                                 " root = www\n"
                                 " dictionary = \"/assets/app.*.js\"\n}\n"
                                 "site two {\n hosts = {two.localhost}\n"
                                 " root = www2\n"
                                 " dictionary = \"/assets/app.*.js\"\n}\n",
                                 state_place());
    struct client *client;
    struct reply *reply;

    write_as("../www/assets/app.1.js", 1);
    write_as("../www/assets/app.2.js", 2);
    write_as("../www2/assets/app.2.js", 2);
    client = client_open(start_configured(config));
    assert_true(eventually((client_ask_host(client, "GET", "one.localhost",
                                            "/assets/app.1.js", NULL),
                            count_kept() == 1),
                           MADE_MS));
    assert_true(eventually((reply =
                                client_ask_host(client, "GET", "one.localhost",
                                                "/assets/app.2.js",
                                                printed(TAKES "%s", has(1))),
                            is_delta(reply)),
                           MADE_MS));
    for (int i = 0; i < 20; i++) {
        reply = client_ask_host(client, "GET", "two.localhost",
                                "/assets/app.2.js",
                                printed(TAKES "%s", has(1)));
        expect_status(reply, 200);
        assert_false(is_delta(reply));
        pause_ms(20);
    }
}

/* --- Rules --------------------------------------------------------------- */

TEST(a_file_can_be_the_dictionary_of_others)
{
    struct client *client =
        client_open(START("--dictionary=words:/docs/*.html=/docs.words",
                          state_argument(), "--workers=1"));
    struct reply *reply;

    write_as("docs.words", 1);
    write_as("docs/page.html", 2);
    assert_true(eventually((reply = fetch(client, "/docs.words", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    expect_field(reply, "Use-As-Dictionary",
                 "match=\"/docs/*.html\", id=\"words\"");
    expect_no_field(reply, "Link");
    reply = fetch(client, "/docs/page.html", TAKES);
    expect_field(reply, "Link",
                 "</docs.words>; rel=\"compression-dictionary\"");
    expect_no_field(reply, "Use-As-Dictionary");
    reply = await_delta(client, "/docs/page.html", 1);
    expect_reply_delta(reply, 1, 2);
    expect_field(reply, "Link",
                 "</docs.words>; rel=\"compression-dictionary\"");
}

TEST(a_location_has_rules_of_its_own_of_whole_paths)
{
    struct client *client;
    struct reply *reply;

    write_as("../www/app.1.js", 1);
    write_as("../www/app.2.js", 2);
    client = client_open(start_configured(
        printed("state-directory = \"%s\"\n"
                "root = www\n"
                "compress = off\n"
                "location /alias {\n root = www\n strip-prefix = yes\n"
                " dictionary = \"/alias/app.*.js\"\n}\n",
                state_place())));
    assert_true(eventually((reply = client_ask_host(client, "GET", "localhost",
                                                    "/alias/app.1.js", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    expect_field(reply, "Use-As-Dictionary", "match=\"/alias/app.*.js\"");
    assert_true(eventually(is_delta(client_ask_host(client, "GET", "localhost",
                                                    "/alias/app.2.js",
                                                    printed(TAKES "%s",
                                                            has(1)))),
                           MADE_MS));
    reply = client_ask_host(client, "GET", "localhost", "/app.1.js", TAKES);
    expect_no_field(reply, "Use-As-Dictionary");
    expect_no_field(reply, "Vary");
}

TEST(what_an_answer_is_told_to_be_is_left)
{
    struct client *client =
        client_open(START_DICT(RULE, "--header-set=Cache-Control: "
                                     "max-age=9, no-transform"));

    publish(client, 1);
    write_as("assets/app.2.js", 2);
    for (int i = 0; i < 40; i++) {
        assert_false(is_delta(fetch(client, "/assets/app.2.js",
                                    printed(TAKES "%s", has(1)))));
        pause_ms(50);
    }
}

TEST(nonsense_is_refused)
{
    static const char *const wrong[] = {
        "--dictionary=app.js",    "--dictionary=",
        "--dictionary=/a?.js",    "--dictionary=/a=b",
        "--dictionary=/a=/b*",    "--dictionary=:/a",
        "--dictionary=/a=",       "--dictionary-versions=0",
        "--dictionary-versions=8"};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "-t", wrong[i]);
        going_on("%s", wrong[i]);
        assert_int_equal(outcome.status, 64);
    }
}

TEST(a_folder_that_cannot_be_is_said_at_the_start)
{
    struct outcome outcome;

    save(printed("%s/state", folder()), "", 0);
    server_run(&(struct launch){0},
               (const char *const[]){RULE, state_argument(), NULL}, &outcome);
    assert_int_equal(outcome.status, 73);
    assert_non_null(strstr(outcome.err, "--state-directory"));
}

/* --- Reloading ----------------------------------------------------------- */

static const char *text_with(const char *rule)
{
    return printed("root = www\nstate-directory = \"%s\"\n"
                   "control = \"%s\"\n%s",
                   state_place(), control_path(), rule);
}

TEST(rules_change_by_a_reload_but_the_first_takes_a_restart)
{
    struct server *server;
    struct client *client;
    struct outcome outcome;
    struct reply *reply;

    write_as("../www/a/app.1.js", 1);
    server = start_configured(text_with(""));
    (void)configuration(text_with("dictionary = \"/a/*.js\"\n"));
    assert_int_not_equal(ctl("reload", &outcome), 0);
    assert_non_null(strstr(outcome.err, "started without"));
    client = client_open(server);
    expect_no_field(fetch(client, "/a/app.1.js", TAKES), "Use-As-Dictionary");
    server_stop(server);
    server = start_configured(text_with("dictionary = \"/b/*.js\"\n"));
    (void)configuration(text_with("dictionary = \"/a/*.js\"\n"));
    assert_int_equal(ctl("reload", &outcome), 0);
    reply = client_ask_host(client_open(server), "GET", "localhost",
                            "/a/app.1.js", TAKES);
    expect_field(reply, "Use-As-Dictionary", "match=\"/a/*.js\"");
}
