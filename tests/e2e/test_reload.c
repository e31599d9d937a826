/*
 * SIGHUP and `ctl reload`: what comes next is served as the configuration says
 * then; what was begun ends as it began; a faulty one changes nothing.
 */
#include "client.h"
#include "crowd.h"
#include "operator.h"
#include "store.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { RELOADS = 100, REQUESTS = 1000000, LARGE = 20 * 1048576, SEED = 9 };

E2E_BEGIN(start)
{
    operator_adopt();
    site_text("other/canary", "other\n");
    site_seeded("large", SEED, LARGE);
}

static char *config_path(void)
{
    return printed("%s/sprintd.conf", folder());
}

__attribute__((format(printf, 1, 2))) static void configure(const char *format,
                                                            ...)
{
    FILE *file = fopen(config_path(), "we");
    va_list list;

    assert_non_null(file);
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    fclose(file);
}

static struct server *start_configured(void)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", config_path(), "--control",
                                     control_path(), NULL};

    return server_start(&launch, arguments);
}

/* --- What changes -------------------------------------------------------- */

TEST(the_root_changes_and_the_connection_stays)
{
    struct server *one;
    struct client *client;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    client = client_open(one);
    expect_body(client_ask(client, "GET", "/canary", ""), "canary\n");
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n", site());
    ctl_ok("reload");
    assert_true(eventually(
        strcmp(client_ask(client, "GET", "/canary", "")->body, "other\n") == 0,
        5000));
}

TEST(sighup_is_the_same)
{
    struct server *one;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n", site());
    server_signal(one, SIGHUP);
    assert_true(eventually(server_has_said(one, "reloaded"), 5000));
    assert_true(eventually(strcmp(get(one, "/canary")->body, "other\n") == 0,
                           5000));
}

TEST(what_was_begun_ends_as_it_began)
{
    struct server *one;
    struct client *client;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    client = client_open_narrow(one, 65536);
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n", site());
    ctl_ok("reload");
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    expect_body(client_ask(client, "GET", "/canary", ""), "other\n");
}

static struct client *open_port(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return client_open_to((struct sockaddr *)&to, sizeof(to));
}

TEST(listeners_come_and_go_and_the_others_stay)
{
    char *path = printed("%s/socket", folder());
    struct server *one;
    struct client *early;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    early = client_open(one);
    client_expect_usable(early);
    configure("listen = {\"127.0.0.1:%u\", \"127.0.0.2:0\"}\nroot = \"%s\"\n",
              one->port, site());
    ctl_ok("reload");
    assert_non_null(strstr(ctl_ok("status"), "http://127.0.0.2:"));
    expect_status(get(one, "/canary"), 200);
    configure("listen = {\"127.0.0.2:0\"}\nroot = \"%s\"\n", site());
    ctl_ok("reload");
    assert_null(open_port(one->port));
    client_expect_usable(early);
    assert_null(strstr(ctl_ok("status"), "http://127.0.0.1:"));
    configure("listen = {\"127.0.0.1:%u\", \"unix:%s\"}\nroot = \"%s\"\n",
              one->port, path, site());
    /* Beside the control socket: within reach. */
    ctl_ok("reload");
    expect_status(get(one, "/canary"), 200);
    client_expect_usable(client_open_unix(path));
    configure("listen = {\"127.0.0.1:%u\"}\nroot = \"%s\"\n", one->port,
              site());
    ctl_ok("reload");
    assert_int_equal(access(path, F_OK), -1);
    expect_status(get(one, "/canary"), 200);
}

TEST(what_cannot_change_is_told)
{
    struct server *one;
    const char *answer;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\nworkers = 1\n",
              site());
    one = start_configured();
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\nworkers = 2\n"
              "log-level = debug\naccess-log = /nowhere/at/all\n",
              site());
    answer = ctl_ok("reload");
    assert_string_equal(answer,
                        "workers: changed; takes effect at the next start or "
                        "upgrade\n"
                        "access-log: changed; takes effect at the next start "
                        "or upgrade\n");
    assert_true(server_has_said(one, "workers: changed"));
    assert_non_null(strstr(ctl_ok("status"), "workers: 1\n"));
}

TEST(another_list_of_stores_waits_for_the_next_start)
{
    static const char told[] =
        "kv: changed; takes effect at the next start or upgrade\n";
    const char *here = store_folder(), *more = store_folder();
    struct server *one;
    struct client *client;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n"
              "kv = {\"/kv=%s\"}\n",
              site(), here);
    one = start_configured();
    client = client_open(one);
    store_put(client, "a", "1");
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n"
              "kv = {\"/kv=%s\", \"/more=%s\"}\n",
              site(), here, more);
    assert_string_equal(ctl_ok("reload"), told);
    assert_true(server_has_said(one, "kv: changed"));
    assert_true(eventually(
        strcmp(client_ask(client, "GET", "/canary", "")->body, "other\n") == 0,
        5000));
    store_holds(client, "a", "1");
    expect_status(client_ask(client, "DELETE", "/more/a", ""), 405);
    assert_int_equal(access(more, F_OK), -1);
    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    assert_string_equal(ctl_ok("reload"), told);
    assert_true(eventually(
        strcmp(client_ask(client, "GET", "/canary", "")->body, "canary\n") == 0,
        5000));
    store_holds(client, "a", "1");
    store_put(client, "b", "2");
}

/* --- What is faulty ------------------------------------------------------ */

TEST(a_faulty_configuration_changes_nothing)
{
    static const struct {
        const char *listen, *root, *more, *reason;
    } faults[] = {{"127.0.0.1:0", "site", "wrokers = 3\n", "'workers'"},
                  {"127.0.0.1:0", "no/where", "", "no/where': No such file"},
                  {"192.0.2.1:80", "site", "", "no such address"},
                  {"127.0.0.1:0", "site", "site \"a\" {\n", "sprintd.conf:"}};
    struct server *one;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        struct outcome outcome;

        going_on("%s", faults[i].reason);
        configure("listen = {\"%s\"}\nroot = \"%s/%s\"\n%s", faults[i].listen,
                  folder(), faults[i].root, faults[i].more);
        assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
        if (!strstr(outcome.err, faults[i].reason))
            flunk("it says: %s", outcome.err);
        assert_true(server_has_said(one, faults[i].reason));
        expect_body(get(one, "/canary"), "canary\n");
    }
    server_signal(one, SIGHUP);
    assert_true(eventually(server_has_said(one, "all stays as it is"), 5000));
    expect_body(get(one, "/canary"), "canary\n");
}

/* --- Included files ------------------------------------------------------ */

/* A site that says its name, in a file of its own. */
static void configure_site(const char *path, const char *name)
{
    site_text(path, printed("site %s { hosts = {%s.example} respond = %s }\n",
                            name, name, name));
}

static struct reply *ask_site(const struct server *one, const char *name)
{
    struct client *client = client_open(one);

    client_say(client, "GET / HTTP/1.1\r\nHost: %s.example\r\n\r\n", name);
    return client_reply(client);
}

#define INCLUDING                                             \
    "listen = {\"127.0.0.1:0\"}\ninclude \"conf.d/*.conf\"\n" \
    "site rest { respond = rest }\n"

TEST(a_reload_reads_what_is_included_again)
{
    struct server *one;
    struct outcome outcome;

    configure_site("../conf.d/one.conf", "one");
    configure(INCLUDING);
    one = start_configured();
    expect_body(ask_site(one, "one"), "one");
    expect_body(ask_site(one, "two"), "rest");
    /* An editor puts another file in the place of one. */
    configure_site("../conf.d/new", "two");
    assert_int_equal(rename(printed("%s/conf.d/new", folder()),
                            printed("%s/conf.d/one.conf", folder())),
                     0);
    ctl_ok("reload");
    expect_body(ask_site(one, "two"), "two");
    expect_body(ask_site(one, "one"), "rest");
    site_text("../conf.d/x.conf", "\nrooot = /x\n");
    assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err,
                           printed("%s/conf.d/x.conf:2: key 'rooot'",
                                   folder())));
    expect_body(ask_site(one, "two"), "two");
    site_remove("../conf.d/x.conf");
}

/* Beside the first file there may be what is nobody's business: known files are
 * read again, and one that is new is told of. */
TEST(a_reload_looks_beside_the_first_file_no_further)
{
    bool has_fence;
    struct server *one;
    struct outcome outcome;

    configure_site("../one.inc", "one");
    configure("listen = {\"127.0.0.1:0\"}\ninclude \"*.inc\"\n"
              "site rest { respond = rest }\n");
    one = start_configured();
    has_fence = strstr(ctl_ok("status"), "sandbox: Landlock");
    expect_body(ask_site(one, "one"), "one");
    configure_site("../new", "two");
    assert_int_equal(rename(printed("%s/new", folder()),
                            printed("%s/one.inc", folder())),
                     0);
    ctl_ok("reload");
    expect_body(ask_site(one, "two"), "two");
    configure_site("../three.inc", "three");
    assert_int_equal(ctl("reload", &outcome),
                     has_fence ? EXIT_FAILURE : EXIT_SUCCESS);
    if (has_fence)
        assert_non_null(strstr(outcome.err,
                               printed("'%s' is out of this", folder())));
    site_remove("../one.inc");
    site_remove("../three.inc");
}

/* It must not be taken for a folder without files. */
TEST(a_folder_out_of_reach_is_told_of)
{
    struct server *one;
    struct outcome outcome;

    configure_site("../far/far.conf", "far");
    configure("listen = {\"127.0.0.1:0\"}\nsite rest { respond = rest }\n");
    one = start_configured();
    if (strstr(ctl_ok("status"), "sandbox: Landlock")) {
        configure("listen = {\"127.0.0.1:0\"}\ninclude \"/usr/*.conf\"\n"
                  "site rest { respond = other }\n");
        assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
        assert_non_null(strstr(outcome.err, "'/usr/*.conf' cannot be"));
        assert_non_null(strstr(outcome.err, "'/usr' is out of this process's"));
    }
    expect_body(ask_site(one, "far"), "rest");
}

TEST(what_the_sandbox_does_not_reach_is_refused)
{
    struct outcome outcome;
    struct server *one;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n", site());
    one = start_configured();
    if (strstr(ctl_ok("status"), "sandbox: Landlock")) {
        configure("listen = {\"127.0.0.1:0\"}\nroot = /etc\n");
        assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
        assert_non_null(strstr(outcome.err, "'/etc' is out of this process's"));
        assert_non_null(strstr(outcome.err, "upgrade"));
    }
    expect_body(get(one, "/canary"), "other\n");
}

/* The program that gets certificates starts with the server, where there are
 * names of authorities: those of this machine need none. */
TEST(certificates_of_authorities_are_not_waited_for_in_vain)
{
    static const char listen[] = "listen = {\"http://127.0.0.1:0\", "
                                 "\"https://127.0.0.1:0\"}\n";
    const char *kept = printed("%s/state", folder());
    struct outcome outcome;
    struct server *one;

    assert_int_equal(mkdir(kept, 0700), 0);
    configure("%sstate-directory = \"%s\"\n"
              "site a { hosts = {a.localhost} respond = a }\n",
              listen, kept);
    one = start_configured();
    configure("%sstate-directory = \"%s\"\n"
              "site a { hosts = {a.localhost} respond = a }\n"
              "site b { hosts = {b.sprintd.example.net} respond = b }\n",
              listen, kept);
    assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err, "without the program that gets them"));
    assert_non_null(strstr(outcome.err, "upgrade"));
    expect_body(get(one, "/"), "a");
}

/* A service at a unix socket takes a server of root's for root. */
TEST(a_server_of_roots_opens_no_unix_sockets_but_those_of_its_start)
{
    struct outcome outcome;
    struct server *one;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s/other\"\n", site());
    one = start_configured();
    if (geteuid() != 0 || !strstr(ctl_ok("status"), ", seccomp"))
        skip();
    configure("listen = {\"127.0.0.1:0\"}\nproxy = \"unix:/nowhere\"\n");
    assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err, "connect to unix sockets"));
    expect_body(get(one, "/canary"), "other\n");
}

/* --- Under load ---------------------------------------------------------- */

TEST(no_request_fails_under_a_hundred_reloads)
{
    bool is_slow = slowness() > 1;
    unsigned reloads = is_slow ? RELOADS / 5 : RELOADS;
    unsigned long requests = is_slow ? REQUESTS / 100 : REQUESTS;
    struct crowd_options options = {
        .target = "/canary", .body = "canary\n", .clients = 32, .depth = 16};
    const struct crowd_counts *counts;
    struct server *one;

    configure("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site());
    one = start_configured();
    counts = crowd_begin(one, &options);
    for (unsigned i = 0; i < reloads; i++) {
        unsigned long seen = atomic_load(&counts->answered);

        configure("listen = {\"127.0.0.1:%u\"%s}\nroot = \"%s\"\n"
                  "cache-size = %u\n",
                  one->port, i % 2 ? ", \"127.0.0.2:0\"" : "", site(),
                  1000000 * (1 + i % 3));
        ctl_ok("reload");
        assert_true(eventually(atomic_load(&counts->answered) >
                                       seen + requests / reloads / 2 ||
                                   atomic_load(&counts->failed) > 0,
                               10000));
    }
    crowd_end(requests);
    assert_int_equal(atomic_load(&counts->connected), options.clients);
    assert_non_null(strstr(ctl_ok("status"),
                           printed("reloaded %u times", reloads)));
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
