/*
 * --proxy-cache FOLDER: what is kept outlives its server, however that ends,
 * and what the disk has made of it meanwhile is noticed.
 */
#include "operator.h"
#include "upstream.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { KB = 1024, SEED = 7, SHORT = 5000, LARGE = 900 * KB, SOON_MS = 5000 };

#define HEAD                                   \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"  \
    "Cache-Control: max-age=2000000000\r\n"    \
    "ETag: \"v\"\r\nVary: Foo\r\nCache-Tag: t\r\n"

static const char *place(void)
{
    static unsigned count;

    return printed("%s/kept-%u", folder(), ++count);
}

static struct server *start_at(const char *path,
                               const struct upstream *upstream,
                               const char *more)
{
    return START("--workers=2", printed("--proxy=/=%s", upstream->at),
                 printed("--proxy-cache=%s", path), "--proxy-retries=0",
                 "--proxy-fails=0", more);
}

/* How many whole files there are; the name of the last. */
static unsigned files_in(const char *path, char name[256])
{
    DIR *names = opendir(path);
    unsigned count = 0;
    struct dirent *entry;

    assert_non_null(names);
    while ((entry = readdir(names)))
        if (strlen(entry->d_name) == 33) {
            count++;
            if (name)
                snprintf(name, 256, "%s", entry->d_name);
        }
    closedir(names);
    return count;
}

/* One asks for it, and the upstream has so many bytes of that seed. */
static struct reply *fetch(const struct server *server,
                           const struct upstream *upstream, const char *path,
                           uint64_t seed, size_t len)
{
    struct client *client = client_open(server), *peer;
    char *body = scratch(len);
    struct reply *reply;

    seeded_fill(seed, 0, body, len);
    client_say(client, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Content-Length: %zu\r\n\r\n", len);
    client_send(peer, body, len);
    reply = client_reply(client);
    client_close(client);
    return reply;
}

static struct reply *ask_for(const struct server *server, const char *path,
                             const char *fields)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask_host(client, "GET", "a", path, fields);

    client_close(client);
    return reply;
}

static bool is_hit(const struct reply *reply)
{
    const char *note = reply_field(reply, "Cache-Status");

    return note && strncmp(note, "sprintd; hit", 12) == 0;
}

/* Whether it is kept, without asking for it; what turns out to be damaged while
 * it is sent is not. */
static bool has(const struct server *server, const char *path)
{
    struct client *client = client_open(server);
    struct reply *reply;
    bool is_there;

    client_say(client,
               "GET %s HTTP/1.1\r\nHost: a\r\n"
               "Cache-Control: only-if-cached\r\n\r\n",
               path);
    is_there = client_try(client, false, &reply) == CLIENT_REPLY &&
               reply->status == 200;
    client_close(client);
    return is_there;
}

/* Lets the server have no descriptor beyond those that it has, or as many as
 * the limit says. */
static void limit_descriptors(const struct server *server, bool is_short,
                              struct rlimit *limit)
{
    struct rlimit less;
    const char *path = printed("/proc/%d/fd", (int)server->pid);
    DIR *names = opendir(path);
    struct dirent *entry;
    rlim_t most = 0;

    assert_non_null(names);
    while ((entry = readdir(names)))
        if (strtoul(entry->d_name, NULL, 10) >= most)
            most = strtoul(entry->d_name, NULL, 10) + 1;
    closedir(names);
    if (is_short) {
        assert_int_equal(prlimit(server->pid, RLIMIT_NOFILE, NULL, limit), 0);
        less = (struct rlimit){most, limit->rlim_max};
    }
    assert_int_equal(prlimit(server->pid, RLIMIT_NOFILE,
                             is_short ? &less : limit, NULL),
                     0);
}

/* --- Outliving ----------------------------------------------------------- */

TEST(what_is_kept_outlives_its_server)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct reply *reply;

    fetch(server, upstream, "/short", SEED, SHORT);
    fetch(server, upstream, "/large", SEED, LARGE);
    fetch(server, upstream, "/none", SEED, 0);
    server_stop(server);
    assert_int_equal(files_in(path, NULL), 3);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(has(server, "/short") && has(server, "/large") &&
                               has(server, "/none"),
                           SOON_MS));
    for (int i = 0; i < 2; i++) {
        reply = ask_for(server, "/short", NULL);
        assert_true(is_hit(reply));
        expect_seeded(reply, SEED, 0, SHORT);
        expect_field(reply, "ETag", "\"v\"");
        reply = ask_for(server, "/large", NULL);
        assert_true(is_hit(reply));
        expect_seeded(reply, SEED, 0, LARGE);
        expect_seeded(ask_for(server, "/large",
                              "Range: bytes=700000-799999\r\n"),
                      SEED, 700000, 100000);
        assert_int_equal(ask_for(server, "/none", NULL)->length, 0);
        expect_status(ask_for(server, "/short", "If-None-Match: \"v\"\r\n"),
                      304);
    }
    assert_false(has(server, "/other"));
    assert_int_equal(ask_for(server, "/short",
                             "Foo: 1\r\n"
                             "Cache-Control: only-if-cached\r\n")
                         ->status,
                     504);
    assert_false(upstream_hears(upstream, 20));
}

/* Whoever opens many connections takes nothing out of the folder. */
TEST(what_cannot_be_read_for_want_of_descriptors_is_there_later)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct client *client;
    struct rlimit limit;

    fetch(server, upstream, "/short", SEED, SHORT);
    fetch(server, upstream, "/large", SEED, LARGE);
    fetch(server, upstream, "/none", SEED, 0);
    server_stop(server);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(has(server, "/none"), SOON_MS));
    pause_ms(200); /* the folder has been looked through */
    client = client_open(server);
    expect_status(client_ask_host(client, "HEAD", "a", "/none", NULL), 200);
    limit_descriptors(server, true, &limit);
    for (int i = 0; i < 2; i++)
        expect_status(client_ask_host(client, "GET", "a",
                                      i == 0 ? "/short" : "/large",
                                      "Cache-Control: only-if-cached\r\n"),
                      504);
    limit_descriptors(server, false, &limit);
    assert_int_equal(files_in(path, NULL), 3);
    assert_true(has(server, "/short") && has(server, "/large"));
}

TEST(what_is_purged_or_replaced_does_not_come_back)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch(server, upstream, "/a", SEED, SHORT);
    fetch(server, upstream, "/b", SEED, SHORT);
    fetch(server, upstream, "/c", SEED, LARGE);
    fetch(server, upstream, "/d", SEED, SHORT);
    assert_true(eventually(files_in(path, NULL) == 4, SOON_MS));
    expect_body(client_ask_host(client, "PURGE", "a", "/a", NULL),
                "{\"purged\":1}\n");
    expect_body(client_ask_host(client, "PURGE", "a", "/d",
                                "Soft-Purge: 1\r\n"),
                "{\"purged\":1}\n");
    peer = upstream_asked(upstream, client,
                          "GET /b HTTP/1.1\r\nHost: a\r\n"
                          "Cache-Control: no-cache\r\n\r\n");
    client_say(peer, HEAD "Content-Length: 3\r\n\r\nnew");
    expect_body(client_reply(client), "new");
    assert_true(eventually(files_in(path, NULL) == 3, SOON_MS));
    server_stop(server);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(has(server, "/b") && has(server, "/c"), SOON_MS));
    expect_body(ask_for(server, "/b", NULL), "new");
    assert_false(has(server, "/a"));
    assert_false(has(server, "/d"));
    expect_body(client_ask_host(client_open(server), "PURGE", "a", "/",
                                "Cache-Tag: t\r\n"),
                "{\"purged\":3}\n");
    assert_true(eventually(files_in(path, NULL) == 0, SOON_MS));
}

/* Its fields change, its body does not. */
TEST(what_a_304_says_is_kept_on_disk_as_well)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch(server, upstream, "/a", SEED, LARGE);
    assert_true(eventually(files_in(path, NULL) == 1, SOON_MS));
    peer = upstream_asked(upstream, client,
                          "GET /a HTTP/1.1\r\nHost: a\r\n"
                          "Cache-Control: no-cache\r\n\r\n");
    client_say(peer,
               "HTTP/1.1 304 Same\r\nConnection: close\r\n"
               "Cache-Control: max-age=2000000001\r\n"
               "X-New: %0300d\r\n\r\n",
               7);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    server_stop(server);
    assert_int_equal(files_in(path, NULL), 1);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(has(server, "/a"), SOON_MS));
    expect_seeded(ask_for(server, "/a", NULL), SEED, 0, LARGE);
    assert_non_null(reply_field(ask_for(server, "/a", NULL), "X-New"));
    expect_field(ask_for(server, "/a", NULL), "Cache-Control",
                 "max-age=2000000001");
}

TEST(a_successor_has_all_that_its_predecessor_kept)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = START("--workers=2",
                                  printed("--proxy=/=%s", upstream->at),
                                  printed("--proxy-cache=%s", path),
                                  "--proxy-retries=0", "--proxy-fails=0",
                                  "--control", control_path(), "--pid-file",
                                  pid_path());
    struct server *heir = scratch(sizeof(*heir));
    pid_t last;

    *heir = *server;
    fetch(server, upstream, "/a", SEED, SHORT);
    fetch(server, upstream, "/b", SEED, LARGE);
    ctl_ok("upgrade");
    assert_int_equal(server_wait(server, patience(SOON_MS)), 0);
    assert_true(eventually(has(heir, "/a") && has(heir, "/b"), SOON_MS));
    expect_seeded(ask_for(heir, "/b", NULL), SEED, 0, LARGE);
    fetch(heir, upstream, "/c", SEED, SHORT);
    assert_true(eventually(files_in(path, NULL) == 3, SOON_MS));
    ctl_ok("reload");
    assert_true(has(heir, "/c"));
    last = pid_in_file();
    ctl_ok("stop");
    assert_true(process_ends(last));
}

/* --- Damage -------------------------------------------------------------- */

static void damage(const char *path, off_t at, bool cuts)
{
    char name[256];
    int fd;

    assert_int_equal(files_in(path, name), 1);
    fd = open(printed("%s/%s", path, name), O_RDWR);
    assert_true(fd >= 0);
    if (at < 0)
        at += lseek(fd, 0, SEEK_END);
    if (cuts)
        assert_int_equal(ftruncate(fd, at), 0);
    else
        assert_int_equal(pwrite(fd, "\x80\x81", 2, at), 2);
    close(fd);
}

/* Each time what was kept is not there any more, and comes anew. */
static void try_damage(size_t len, off_t at, bool cuts)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct reply *reply = NULL;

    going_on("%zu bytes, %s at %lld", len, cuts ? "cut" : "changed",
             (long long)at);
    fetch(server, upstream, "/a", SEED, len);
    server_stop(server);
    damage(path, at, cuts);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(!has(server, "/a") && files_in(path, NULL) == 0,
                           SOON_MS));
    reply = fetch(server, upstream, "/a", SEED, len);
    expect_seeded(reply, SEED, 0, len);
    assert_true(eventually(files_in(path, NULL) == 1, SOON_MS));
    expect_seeded(ask_for(server, "/a", NULL), SEED, 0, len);
    server_stop(server);
    going_on("%s", "");
}

TEST(a_damaged_entry_is_removed_and_asked_for_anew)
{
    static const off_t places[] = {0,          SHORT - 1, SHORT + 3,
                                   SHORT + 20, -1,        -20};

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        try_damage(SHORT, places[i], false);
        if (places[i] != 0)
            try_damage(SHORT, places[i], true);
    }
    try_damage(LARGE, LARGE + 9, false);
    try_damage(LARGE, -1, true);
}

/* It is found out while it is sent: no byte of what is wrong is. */
TEST(of_a_long_body_nothing_wrong_is_sent)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);

    fetch(server, upstream, "/a", SEED, LARGE);
    server_stop(server);
    damage(path, LARGE - 5, false);
    server = start_at(path, upstream, NULL);
    assert_true(eventually(!has(server, "/a") && files_in(path, NULL) == 0,
                           SOON_MS));
    expect_seeded(fetch(server, upstream, "/a", SEED + 1, LARGE), SEED + 1, 0,
                  LARGE);
}

TEST(what_else_lies_in_the_folder_is_left_alone)
{
    static const char *const names[] = {"README",
                                        "0123456789abcdef.0123456789abcdef.old",
                                        "0123456789abcdeg.0123456789abcdef",
                                        "new"};
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server;

    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        close(open(printed("%s/%s", path, names[i]), O_CREAT | O_WRONLY, 0600));
    close(open(printed("%s/0123456789abcdef.0123456789abcdef.new", path),
               O_CREAT | O_WRONLY, 0600));
    close(open(printed("%s/0123456789abcdef.0123456789abcdee", path),
               O_CREAT | O_WRONLY, 0600));
    server = start_at(path, upstream, NULL);
    assert_true(eventually(files_in(path, NULL) == 1, SOON_MS));
    fetch(server, upstream, "/a", SEED, SHORT);
    server_stop(server);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_int_equal(access(printed("%s/%s", path, names[i]), F_OK), 0);
    assert_int_equal(access(printed("%s/0123456789abcdef."
                                    "0123456789abcdef.new",
                                    path),
                            F_OK),
                     -1);
}

/* --- Whose it is --------------------------------------------------------- */

TEST(a_folder_that_others_may_write_in_is_refused)
{
    const char *path = place();
    struct outcome outcome;

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9",
        printed("--proxy-cache=%s", path));
    assert_int_equal(outcome.status, 77);
    assert_non_null(strstr(outcome.err, "can write"));
    assert_int_equal(chmod(path, 0700), 0);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 12345, 12345), 0);
    RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9",
        printed("--proxy-cache=%s", path));
    assert_int_equal(outcome.status, 77);
}

TEST(two_servers_do_not_share_a_folder)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, NULL);
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9",
        printed("--proxy-cache=%s", path));
    assert_int_equal(outcome.status, 69);
    assert_non_null(strstr(outcome.err, "another process has it"));
    fetch(server, upstream, "/a", SEED, SHORT);
}

/* --- Room ---------------------------------------------------------------- */

TEST(what_does_not_fit_goes_from_the_disk_as_well)
{
    enum { OBJECTS = 40, EACH = 60 * KB };
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server = start_at(path, upstream, "--proxy-cache-size=1M");
    unsigned found = 0;

    for (unsigned i = 0; i < OBJECTS; i++)
        expect_seeded(fetch(server, upstream, printed("/%u", i), SEED, EACH),
                      SEED, 0, EACH);
    assert_true(eventually(files_in(path, NULL) <= 17, SOON_MS));
    server_stop(server);
    server = start_at(path, upstream, "--proxy-cache-size=1M");
    assert_true(eventually(has(server, printed("/%u", OBJECTS - 1)), SOON_MS));
    for (unsigned i = 0; i < OBJECTS; i++)
        found += has(server, printed("/%u", i));
    assert_in_range(found, 5, 17);
}

/* --- A disk that takes nothing ------------------------------------------- */

/* A file system of its own of a megabyte; skips the test where that is not
 * allowed. */
static void mount_small(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
    if (geteuid() != 0 || unshare(CLONE_NEWNS) == -1 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
        mount("sprintd", path, "tmpfs", 0, "size=1m,mode=0700") == -1)
        skip();
}

static unsigned count_said(const struct server *server, const char *part)
{
    const char *text = read_text(server->errors, NULL);
    unsigned count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

TEST(what_has_no_room_on_the_disk_is_served_all_the_same)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server;

    mount_small(path);
    server = start_at(path, upstream, NULL);
    for (unsigned i = 0; i < 4; i++)
        expect_seeded(fetch(server, upstream, printed("/%u", i), SEED + i,
                            LARGE),
                      SEED + i, 0, LARGE);
    for (unsigned i = 4; i < 40; i++)
        expect_seeded(fetch(server, upstream, printed("/%u", i), SEED + i,
                            60 * KB),
                      SEED + i, 0, 60 * KB);
    assert_true(eventually(count_said(server, "No space left") == 1, SOON_MS));
    for (unsigned i = 0; i < 40; i++)
        if (has(server, printed("/%u", i)))
            expect_seeded(ask_for(server, printed("/%u", i), NULL), SEED + i, 0,
                          i < 4 ? LARGE : 60 * KB);
    assert_true(has(server, "/39")); /* in memory */
    server_stop(server);
    assert_int_equal(umount(path), 0);
}

TEST(where_nothing_can_be_written_all_is_kept_in_memory)
{
    const char *path = place();
    struct upstream *upstream = upstream_open();
    struct server *server;

    mount_small(path);
    server = start_at(path, upstream, NULL);
    fetch(server, upstream, "/a", SEED, SHORT);
    assert_true(eventually(files_in(path, NULL) == 1, SOON_MS));
    assert_int_equal(mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, "size=1m"),
                     0);
    expect_seeded(fetch(server, upstream, "/b", SEED, SHORT), SEED, 0, SHORT);
    expect_seeded(fetch(server, upstream, "/c", SEED, LARGE), SEED, 0, LARGE);
    assert_true(eventually(count_said(server, "Read-only") == 1, SOON_MS));
    expect_seeded(ask_for(server, "/a", "Cache-Control: only-if-cached\r\n"),
                  SEED, 0, SHORT);
    expect_seeded(ask_for(server, "/b", "Cache-Control: only-if-cached\r\n"),
                  SEED, 0, SHORT);
    server_stop(server);
    assert_int_equal(umount(path), 0);
}

SUITE(.begin = operator_begin, .end = harness_end,
      .each_end = operator_after_test);
