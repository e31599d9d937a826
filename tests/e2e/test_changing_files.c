/*
 * Files that change while they are served, and while they are cached. A
 * change is seen within a second; no reply mixes two versions; a reply that
 * cannot be finished as announced ends with the connection.
 */

#include "client.h"

enum { SEEN_MS = 1500, LARGE = 20 * 1048576, SMALL = 5000 };

static const char *const methods[] = {"--send-method=auto",
                                      "--send-method=mmap",
                                      "--send-method=sendfile",
                                      "--send-method=read"};
enum { METHODS = 4 };

/* Version v of a file is seed v, as many bytes as version_len() says; no two
 * versions have the same length. */
static size_t version_len(unsigned version, size_t base)
{
    return base + version * 3;
}

static void replace_version(const char *name, unsigned version, size_t base)
{
    size_t len = version_len(version, base);
    char *data = scratch(len);

    seeded_fill(version, 0, data, len);
    site_replace(name, data, len);
}

static void overwrite_version(const char *name, unsigned version, size_t base)
{
    site_seeded(name, version, version_len(version, base));
}

static void cut(const char *name, size_t len)
{
    int fd = openat(site_open(), name, O_WRONLY | O_CLOEXEC);

    if (fd == -1 || ftruncate(fd, (off_t)len) == -1)
        flunk("cannot cut '%s'", name);
    close(fd);
}

/* Without cutting it first, as site_seeded() does. */
static void overwrite_in_place(const char *name, uint64_t seed, size_t len)
{
    int fd = openat(site_open(), name, O_WRONLY | O_CLOEXEC);
    char *data = scratch(len);

    seeded_fill(seed, 0, data, len);
    if (fd == -1 || pwrite(fd, data, len, 0) != (ssize_t)len)
        flunk("cannot overwrite '%s'", name);
    close(fd);
}

/* Which version a reply is; fails when it is none. */
static unsigned version_of(const struct reply *reply, size_t base)
{
    unsigned version = (unsigned)((reply->body_len - base) / 3);

    expect_status(reply, 200);
    expect_seeded(reply, version, 0, version_len(version, base));
    return version;
}

/* Whether all of some files are seen in a version. */
static bool all_are(struct client *client, const size_t *bases, size_t count,
                    unsigned version)
{
    for (size_t i = 0; i < count; i++) {
        struct reply *reply = client_ask(client, "GET", printed("/file%zu", i),
                                         NULL);

        if (reply->status == 404 ? version != 0
                                 : version_of(reply, bases[i]) != version)
            return false;
    }
    return true;
}

TEST(a_change_is_seen_within_a_second)
{
    static const size_t bases[] = {SMALL, 100000, 1048576};
    enum { COUNT = 3 };
    struct server *one = START("--workers=2");
    struct client *client = client_open(one);

    assert_true(all_are(client, bases, COUNT, 0));
    /* Absence is forgotten as quickly as presence. */
    for (size_t i = 0; i < COUNT; i++)
        replace_version(printed("file%zu", i), 1, bases[i]);
    assert_true(eventually(all_are(client, bases, COUNT, 1), SEEN_MS));
    for (size_t i = 0; i < COUNT; i++)
        replace_version(printed("file%zu", i), 2, bases[i]);
    assert_true(eventually(all_are(client, bases, COUNT, 2), SEEN_MS));
    /* In place. */
    for (size_t i = 0; i < COUNT; i++)
        overwrite_version(printed("file%zu", i), 3, bases[i]);
    assert_true(eventually(all_are(client, bases, COUNT, 3), SEEN_MS));
    for (size_t i = 0; i < COUNT; i++)
        site_remove(printed("file%zu", i));
    assert_true(eventually(all_are(client, bases, COUNT, 0), SEEN_MS));
}

TEST(a_change_that_shows_in_nothing_but_the_bytes_is_seen)
{
    struct server *one = START("--workers=1");
    struct client *client = client_open(one);
    struct reply *reply;
    char *tag;

    for (unsigned i = 0; i < 2; i++) {
        site_text("same", "version 1\n");
        expect_status(client_ask(client, "GET", "/same", NULL), 200);
        /* At once, so that hardly any clock has moved. */
        site_text("same", "version 2\n");
        assert_true(eventually(memcmp(client_ask(client, "GET", "/same", NULL)
                                          ->body,
                                      "version 2\n", 10) == 0,
                               SEEN_MS));
    }
    /* And one that keeps size and date, as `cp -p` makes it. */
    site_date("same", 1000000000, 0);
    assert_true(eventually(strcmp(reply_field(client_ask(client, "GET", "/same",
                                                         NULL),
                                              "Last-Modified"),
                                  "Sun, 09 Sep 2001 01:46:40 GMT") == 0,
                           SEEN_MS));
    reply = client_ask(client, "GET", "/same", NULL);
    tag = printed("%s", reply_field(reply, "ETag"));
    site_text("same", "version 3\n");
    site_date("same", 1000000000, 0);
    assert_true(eventually(memcmp(client_ask(client, "GET", "/same", NULL)
                                      ->body,
                                  "version 3\n", 10) == 0,
                           SEEN_MS));
    assert_non_null(tag);
}

TEST(without_a_cache_a_change_is_seen_at_once)
{
    static const char *const options[] = {"--cache-size=0",
                                          "--cache-entries=0"};

    for (size_t i = 0; i < 2; i++) {
        struct server *other = START(options[i]);
        struct client *client = client_open(other);

        going_on("%s", options[i]);
        for (unsigned version = 1; version < 50; version++) {
            replace_version("uncached", version, SMALL);
            assert_int_equal(version_of(client_ask(client, "GET", "/uncached",
                                                   NULL),
                                        SMALL),
                             version);
        }
    }
}

TEST(header_and_body_are_always_of_one_version)
{
    static const size_t bases[] = {SMALL, 300000};

    for (size_t m = 0; m < METHODS; m++) {
        struct server *one = START("--workers=2", methods[m]);
        struct client *clients[4];
        char *tags[1000] = {0};
        uint64_t until = now_ms() + 600;
        unsigned version = 0;

        for (size_t i = 0; i < 4; i++)
            clients[i] = client_open(one);
        for (unsigned round = 0; now_ms() < until; round++) {
            size_t base = bases[m % 2];

            if (round % 4 == 0 && version < 999)
                replace_version("turns", ++version, base);
            for (size_t i = 0; i < 4; i++)
                client_say(clients[i],
                           "GET /turns HTTP/1.1\r\nHost: a\r\n\r\n");
            for (size_t i = 0; i < 4; i++) {
                struct reply *reply = client_reply(clients[i]);
                unsigned seen = version_of(reply, base);
                const char *tag = reply_field(reply, "ETag");

                assert_in_range(seen, 1, version);
                if (!tags[seen])
                    tags[seen] = printed("%s", tag);
                assert_string_equal(tag, tags[seen]);
                for (unsigned other = 1; other <= version; other++)
                    if (other != seen && tags[other])
                        assert_string_not_equal(tags[other], tag);
            }
        }
        clients_close();
        server_stop(one);
    }
}

/* --- While a reply is under way ------------------------------------------ */

/* A client that has got the head and a little of a large reply. */
static struct client *begin_large(const struct server *server, const char *name)
{
    struct client *client = client_open_narrow(server, 65536);

    client_say(client, "GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", name);
    client_take(client, 4096);
    return client;
}

/* It ends before its time, or it is complete and the old version. */
static void expect_old_or_broken(struct client *client, bool may_be_whole)
{
    struct reply *reply;

    switch (client_try(client, false, &reply)) {
    case CLIENT_REPLY:
        if (!may_be_whole)
            flunk("whole, though bytes of it were gone");
        expect_seeded(reply, 1, 0, LARGE);
        break;
    case CLIENT_BROKEN:
        break;
    case CLIENT_CLOSED:
    case CLIENT_RESET:
    case CLIENT_TIMEOUT:
        flunk("neither a reply nor its end");
    }
}

static struct server *each[METHODS];

static void start_each(void)
{
    for (size_t m = 0; m < METHODS; m++)
        each[m] = START("--workers=1", methods[m]);
}

/* Each server has begun to send that file when it returns. */
static void begin_each(struct client *clients[METHODS], const char *name)
{
    site_seeded(name, 1, LARGE);
    for (size_t m = 0; m < METHODS; m++)
        clients[m] = begin_large(each[m], name);
}

TEST(a_file_cut_while_it_is_sent_ends_the_connection)
{
    static const size_t cuts[] = {0, 1, 1048576, LARGE - 1};
    struct client *clients[METHODS];

    start_each();
    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        const char *name = printed("cut%zu", cuts[i]);

        begin_each(clients, name);
        cut(name, cuts[i]);
        for (size_t m = 0; m < METHODS; m++) {
            going_on("%s, cut to %zu", methods[m], cuts[i]);
            expect_old_or_broken(clients[m], false);
            client_expect_usable(client_open(each[m])); /* it lives */
        }
        clients_close();
        site_remove(name);
    }
}

TEST(a_file_replaced_or_removed_is_finished_as_it_was)
{
    struct client *replaced[METHODS];
    struct client *removed[METHODS];

    start_each();
    site_seeded("replaced", 1, LARGE);
    site_seeded("removed", 1, LARGE);
    for (size_t m = 0; m < METHODS; m++) {
        replaced[m] = begin_large(each[m], "replaced");
        removed[m] = begin_large(each[m], "removed");
    }
    site_replace("replaced", "small\n", 6);
    site_remove("removed");
    for (size_t m = 0; m < METHODS; m++) {
        going_on("%s", methods[m]);
        assert_true(eventually(get(each[m], "/replaced")->body_len == 6,
                               SEEN_MS));
        assert_true(eventually(get(each[m], "/removed")->status == 404,
                               SEEN_MS));
        expect_old_or_broken(replaced[m], true);
        expect_old_or_broken(removed[m], true);
    }
}

TEST(a_file_that_grows_while_it_is_sent_keeps_its_length)
{
    struct client *clients[METHODS];

    start_each();
    begin_each(clients, "grows");
    cut("grows", LARGE + 1000); /* appends NULs */
    for (size_t m = 0; m < METHODS; m++) {
        going_on("%s", methods[m]);
        expect_old_or_broken(clients[m], true);
        assert_true(eventually(ask(each[m], "HEAD", "/grows", NULL)->length ==
                                   LARGE + 1000,
                               SEEN_MS));
    }
}

TEST(a_file_overwritten_while_it_is_sent_ends_the_connection)
{
    struct client *clients[METHODS];

    start_each();
    begin_each(clients, "over");
    overwrite_in_place("over", 2, LARGE); /* nothing but bytes and date */
    for (size_t m = 0; m < METHODS; m++) {
        going_on("%s", methods[m]);
        expect_old_or_broken(clients[m], true);
    }
}

TEST(files_and_directories_take_each_others_places)
{
    struct server *one = START("--workers=1");

    site_text("place", "a file\n");
    expect_status(get(one, "/place"), 200);
    site_remove("place");
    site_text("place/index.html", "an index\n");
    assert_true(eventually(get(one, "/place")->status == 301, SEEN_MS));
    expect_body(get(one, "/place/"), "an index\n");
    site_remove("place/index.html");
    unlinkat(site_open(), "place", AT_REMOVEDIR);
    site_text("place", "again\n");
    assert_true(eventually(get(one, "/place")->status == 200, SEEN_MS));
    assert_true(eventually(get(one, "/place/")->status == 404, SEEN_MS));
}

E2E_SUITE(harness_begin_site);
