/*
 * From target to file: decoding, and everything that must not lead out of the
 * root, to what is hidden, or to what is no file.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

static int start(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    site_text("canary", "canary\n");
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
    harness_keep();
    return 0;
}

static void paths_are_decoded_once(void **state)
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

    (void)state;
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

static void nothing_outside_the_root_is_reached(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        expect_refused(server, targets[i]);
}

static void what_begins_with_a_dot_is_hidden(void **state)
{
    static const char *const targets[] = {
        "/.hidden",  "/%2ehidden", "/.git/config",
        "/.git/",    "/.git",      "/dir/.htpasswd",
        "/dir/.d/f", "/dir/.d",    "/dir/../.hidden",
        "/...",      "/.none",     "/.well-known/.secret"};
    struct server *open = START("--show-hidden");

    (void)state;
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

static void links_within_the_root_are_followed(void **state)
{
    (void)state;
    expect_body(get(server, "/in"), "file f\n");
    expect_body(get(server, "/dir/in"), "file f\n");
    expect_body(get(server, "/dirlink/f"), "file dir/f\n");
    expect_body(get(server, "/dirlink/"), "dir index\n");
}

static void links_out_of_the_root_only_if_told(void **state)
{
    struct server *follows = START("--follow-symlinks");

    (void)state;
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

static void what_is_no_file_is_refused_at_once(void **state)
{
    static const char *const targets[] = {"/fifo", "/socket"};
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};

    (void)state;
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

static void what_cannot_be_read_is_forbidden(void **state)
{
    struct server *nobody;

    (void)state;
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

static void long_names_lead_nowhere(void **state)
{
    char name[8000];
    struct client *client = client_open(server);
    struct reply *reply;

    (void)state;
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

static void error_pages_repeat_nothing_unescaped(void **state)
{
    static const char *const targets[] = {"/<script>alert(1)</script>",
                                          "/%3Cscript%3Ealert(1)%3C/script%3E",
                                          "/none?<script>alert(1)</script>",
                                          "/.<script>alert(1)</script>",
                                          "/none/%0d%0aSet-Cookie:%20a=b"};

    (void)state;
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *reply = get(server, targets[i]);

        going_on("%s", targets[i]);
        assert_in_range(reply->status, 400, 404);
        assert_null(memmem(reply->body, reply->body_len, "<script", 7));
        expect_no_field(reply, "Set-Cookie");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        e2e_test(paths_are_decoded_once),
        e2e_test(nothing_outside_the_root_is_reached),
        e2e_test(what_begins_with_a_dot_is_hidden),
        e2e_test(links_within_the_root_are_followed),
        e2e_test(links_out_of_the_root_only_if_told),
        e2e_test(what_is_no_file_is_refused_at_once),
        e2e_test(what_cannot_be_read_is_forbidden),
        e2e_test(long_names_lead_nowhere),
        e2e_test(error_pages_repeat_nothing_unescaped),
    };

    return cmocka_run_group_tests(tests, start, harness_end);
}
