/*
 * From target to file: decoding, and everything that must not lead out of the
 * root, to what is hidden, or to what is no file.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "client.h"

#define SECRET "TOP-SECRET"

static struct server *server;

static void make_fifo(const char *name)
{
    if (mkfifoat(site_open(), name, 0644) == -1)
        flunk("mkfifo '%s'", name);
}

static void make_socket(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", site(), name);
    if (fd == -1 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1)
        flunk("no socket '%s'", name);
    close(fd);
}

E2E_BEGIN(start)
{
    site_text("index.html", "index\n");
    site_text("f", "file f\n");
    site_text("dir/f", "file dir/f\n");
    site_text("dir/index.html", "dir index\n");
    site_text("a b", "space\n");
    site_text("%41", "percent\n");
    site_text("A", "letter\n");
    site_text("a+b", "plus\n");
    site_text("\xe2\x82\xac.txt", "euro\n");
    site_text("\xff\xfe", "no UTF-8\n");
    site_text("a\nb", "line\n");
    site_text("a\\b", "backslash\n");
    site_text("...", SECRET);
    site_text(".hidden", SECRET);
    site_text(".git/config", SECRET);
    site_text("dir/.htpasswd", SECRET);
    site_text("dir/.d/f", SECRET);
    site_text(".well-known/security.txt", "well known\n");
    site_text(".well-known/.secret", SECRET);
    site_text("../secret", SECRET);
    site_text("../outside/f", SECRET);
    site_link("in", "f");
    site_link("dir/in", "../f");
    site_link("dirlink", "dir");
    site_link("out", "../secret");
    site_link("outdir", "../outside");
    site_link("absolute", printed("%s/secret", folder()));
    site_link("loop", "loop");
    site_link("broken", "none");
    site_link("proc", "/proc/self/environ");
    site_link("devzero", "/dev/zero");
    make_fifo("fifo");
    make_socket("socket");
    server = START("--workers=1");
}

TEST(paths_are_decoded_once)
{
    static const struct {
        const char *target;
        const char *body;
    } cases[] = {
        {"/f", "file f\n"},
        {"/%66", "file f\n"},
        {"/dir/f", "file dir/f\n"},
        {"/d%69r/%66", "file dir/f\n"},
        {"/a%20b", "space\n"},
        {"/a+b", "plus\n"}, /* no form: a plus is a plus */
        {"/%2541", "percent\n"},
        {"/%41", "letter\n"},
        {"/%E2%82%AC.txt", "euro\n"},
        {"/%e2%82%ac.txt", "euro\n"},
        {"/%ff%fe", "no UTF-8\n"},
        {"/a%0Ab", "line\n"},
        {"/a%5cb", "backslash\n"},
        {"/f?", "file f\n"},
        {"/f?x=/../../etc/passwd%00", "file f\n"},
        {"//f", "file f\n"},
        {"///dir///f", "file dir/f\n"},
        {"/./f", "file f\n"},
        {"/dir/./f", "file dir/f\n"},
        {"/dir/../f", "file f\n"},
        {"/none/../f", "file f\n"},
        {"/dir/../dir/../f", "file f\n"},
        {"/dir/%2e%2E/f", "file f\n"},
        {"/dir/.%2e/f", "file f\n"},
        {"/dir/", "dir index\n"},
        {"/dir/.", "dir index\n"},
        {"/dir/x/..", "dir index\n"},
        {"/dir/..", "index\n"},
        {"/.well-known/security.txt", "well known\n"},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = client_ask(client, "GET", cases[i].target, NULL);

        going_on("%s", cases[i].target);
        expect_status(reply, 200);
        expect_body(reply, cases[i].body);
    }
}

/* Whatever it is answered, it is no success, and gives nothing away. */
static void expect_refused(const struct server *from, const char *target)
{
    struct reply *reply = get(from, target);

    going_on("%s", target);
    if (reply->status != 400 && reply->status != 403 && reply->status != 404 &&
        reply->status != 414)
        flunk("answered %u", reply->status);
    if (memmem(reply->body, reply->body_len, SECRET, strlen(SECRET)))
        flunk("the secret is out");
}

TEST(nothing_outside_the_root_is_reached)
{
    static const char *const targets[] = {
        "/../secret",
        "/../../secret",
        "/../../../../../../../../etc/passwd",
        "/..",
        "/../",
        "/../site/../secret",
        "/dir/../../secret",
        "/dir/../../../secret",
        "/./../secret",
        "//../secret",
        "/dir//..//..//secret",
        "/%2e%2e/secret",
        "/%2E%2E/secret",
        "/.%2e/secret",
        "/%2e./secret",
        "/..%2fsecret",
        "/..%2Fsecret",
        "/%2e%2e%2fsecret",
        "/dir%2f..%2f..%2fsecret",
        "/..%5csecret",
        "/..\\secret",
        "/%252e%252e/secret",
        "/%c0%ae%c0%ae/secret",
        "/..%c0%afsecret",
        "/%e0%80%ae%e0%80%ae/secret",
        "/..;/secret",
        "/.../secret",
        "/....//secret",
        "/.%00./secret",
        "/..%00/secret",
        "/f%00",
        "/f%00.html",
        "/%00",
        "/dir%2ff",
        "/%2f",
        "/%2Ff",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/dir/..%2f..%2fsecret",
        "http://test/../secret",
        "http://test/%2e%2e/secret",
        "/out",
        "/outdir/f",
        "/outdir/../secret",
        "/absolute",
        "/proc",
        "/devzero",
        "/loop",
        "/loop/f",
        "/broken",
    };

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        expect_refused(server, targets[i]);
}

TEST(what_begins_with_a_dot_is_hidden)
{
    static const char *const targets[] = {
        "/.hidden",  "/%2ehidden", "/.git/config",
        "/.git/",    "/.git",      "/dir/.htpasswd",
        "/dir/.d/f", "/dir/.d",    "/dir/../.hidden",
        "/...",      "/.none",     "/.well-known/.secret"};
    struct server *open = START("--show-hidden");

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        expect_refused(server, targets[i]);
    /* Nothing tells whether it is there. */
    assert_int_equal(get(server, "/.hidden")->status,
                     get(server, "/.none")->status);
    expect_body(get(open, "/.hidden"), SECRET);
    expect_body(get(open, "/dir/.d/f"), SECRET);
    expect_body(get(open, "/.git/config"), SECRET);
    expect_refused(open, "/../secret");
    expect_refused(open, "/.none");
}

TEST(links_within_the_root_are_followed)
{
    expect_body(get(server, "/in"), "file f\n");
    expect_body(get(server, "/dir/in"), "file f\n");
    expect_body(get(server, "/dirlink/f"), "file dir/f\n");
    expect_body(get(server, "/dirlink/"), "dir index\n");
}

TEST(links_out_of_the_root_only_if_told)
{
    struct server *follows = START("--follow-symlinks");

    expect_body(get(follows, "/out"), SECRET);
    expect_body(get(follows, "/outdir/f"), SECRET);
    expect_body(get(follows, "/absolute"), SECRET);
    expect_body(get(follows, "/in"), "file f\n");
    expect_refused(follows, "/../secret");
    expect_refused(follows, "/%2e%2e/secret");
    expect_refused(follows, "/loop");
    expect_refused(follows, "/devzero");
    expect_refused(follows, "/fifo");
}

TEST(what_is_no_file_is_refused_at_once)
{
    static const char *const targets[] = {"/fifo", "/socket"};
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};

    for (size_t m = 0; m < 4; m++) {
        struct server *one = START("--workers=1", methods[m]);

        for (size_t i = 0; i < 2; i++) {
            uint64_t begin = now_ms();

            expect_refused(one, targets[i]);
            assert_in_range(now_ms() - begin, 0, patience(1000));
            client_expect_usable(client_open(one)); /* on the same worker */
        }
        server_stop(one);
    }
}

TEST(what_cannot_be_read_is_forbidden)
{
    struct server *nobody;

    site_text("private", SECRET);
    site_text("locked/f", SECRET);
    site_mode("private", 0);
    site_mode("locked", 0);
    if (faccessat(site_open(), "private", R_OK, 0) == 0 && geteuid() != 0)
        skip();
    nobody = server_start(&(struct launch){.as_nobody = true},
                          (const char *const[]){NULL});
    expect_status(get(nobody, "/private"), 403);
    expect_status(get(nobody, "/locked/f"), 403);
    expect_status(get(nobody, "/locked/"), 403);
    client_expect_usable(client_open(nobody));
    site_mode("locked", 0755); /* so that it can be removed */
    /* And is served once it can. */
    site_mode("private", 0644);
    assert_true(eventually(get(nobody, "/private")->status == 200, 1500));
}

TEST(long_names_lead_nowhere)
{
    char name[8000];
    struct client *client = client_open(server);
    struct reply *reply;

    memset(name, 'x', sizeof(name));
    for (size_t len = 254; len <= 7900; len = len * 3 / 2) {
        reply = client_ask(client, "GET", printed("/%.*s", (int)len, name),
                           NULL);
        going_on("a name of %zu", len);
        assert_true(reply->status == 404 || reply->status == 414 ||
                    reply->status == 400);
    }
    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = i % 2 ? 'x' : '/';
    reply = client_ask(client, "GET", printed("%.*s", 7900, name), NULL);
    assert_true(reply->status == 404 || reply->status == 414);
    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = '/';
    reply = client_ask(client, "GET", printed("%.*sf", 7900, name), NULL);
    assert_true(reply->status == 200 || reply->status == 404);
    for (size_t i = 0; i + 2 < sizeof(name); i += 3)
        memcpy(name + i, "/..", 3);
    reply = client_ask(client, "GET", printed("%.*s/f", 6000, name), NULL);
    assert_true(reply->status == 200 || reply->status == 400 ||
                reply->status == 403 || reply->status == 404);
    for (size_t i = 0; i + 2 < sizeof(name); i += 3)
        memcpy(name + i, "%2e", 3);
    reply = client_ask(client, "GET", printed("/%.*s", 6000, name), NULL);
    assert_true(reply->status == 404 || reply->status == 400);
    client_expect_usable(client);
}

TEST(error_pages_repeat_nothing_unescaped)
{
    static const char *const targets[] = {"/<script>alert(1)</script>",
                                          "/%3Cscript%3Ealert(1)%3C/script%3E",
                                          "/none?<script>alert(1)</script>",
                                          "/.<script>alert(1)</script>",
                                          "/none/%0d%0aSet-Cookie:%20a=b"};

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *reply = get(server, targets[i]);

        going_on("%s", targets[i]);
        assert_in_range(reply->status, 400, 404);
        assert_null(memmem(reply->body, reply->body_len, "<script", 7));
        expect_no_field(reply, "Set-Cookie");
    }
}

E2E_SUITE(start);
