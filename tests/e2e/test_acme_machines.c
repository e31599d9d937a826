/* Several machines with one folder of certificates: one asks, all answer. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "acme.h"

static struct pebble *pebble;
static struct acme_place places[2];
static struct server *servers[2];

static int after(void **state)
{
    pebble_stop(pebble);
    pebble = NULL;
    return acme_after(state);
}

/* The authority looks at the first of them only; the second is there before,
 * and so at work. */
static const char *start(void)
{
    if (!pebble_is_there())
        skip();
    pebble = pebble_start(&(struct pebble_options){0});
    places[0] = places[1] = acme_place_of(pebble);
    places[1].http = free_port();
    places[1].https = free_port();
    for (size_t i = 2; i-- > 0;)
        servers[i] = ACME_SERVE(&places[i], "--https", ACME_NAMES, "--sandbox",
                                "strict");
    return pebble_root(pebble);
}

static bool are_trusted(const char *root)
{
    for (size_t i = 0; i < 2; i++)
        if (!eventually(acme_is_trusted(&places[i], "sprintd.example.net",
                                        root),
                        45000))
            return false;
    return true;
}

/* The number in it, for people; 0: nobody's. */
static pid_t find_holder(void)
{
    const char *mark = read_text(printed("%s/acme/lock", acme_folder()), NULL);
    const char *space = strchr(mark, ' ');

    return space ? (pid_t)strtol(space, NULL, 10) : 0;
}

TEST(one_asks_all_answer_and_show_what_is_new)
{
    const char *root = start();
    pid_t holder;

    assert_true(are_trusted(root));
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    holder = find_holder();
    assert_true(holder == acme_program(servers[0]) ||
                holder == acme_program(servers[1]));
    /* Whoever is at work dies, and another one goes on. */
    assert_int_equal(unlink(acme_live()), 0);
    kill(holder, SIGKILL);
    assert_true(eventually(access(acme_live(), F_OK) == 0, 20000));
    assert_true(find_holder() != holder);
    assert_true(eventually(acme_has_said(servers[0], "read again, as") &&
                               acme_has_said(servers[1], "read again, as"),
                           45000));
    assert_true(are_trusted(root));
    assert_int_equal(pebble_count(pebble, "Added order"), 2);
    for (size_t i = 0; i < 2; i++)
        server_stop(servers[i]);
}

/* As a machine would have left it that cannot be seen from here. */
static void lock_from_afar(time_t age_s)
{
    const char *path = printed("%s/acme/lock", acme_folder());
    struct timespec times[2] = {{.tv_sec = time(NULL) - age_s},
                                {.tv_sec = time(NULL) - age_s}};

    assert_int_equal(
        system(printed("mkdir -p -m 700 '%s/acme' && echo 'afar 1' >'%s'",
                       acme_folder(), path)),
        0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(a_lock_from_another_machine_has_an_end)
{
    const char *root;
    struct server *server;

    if (!pebble_is_there())
        skip();
    pebble = pebble_start(&(struct pebble_options){0});
    places[0] = acme_place_of(pebble);
    root = pebble_root(pebble);
    assert_true(mkdir(acme_folder(), 0700) == 0 || errno == EEXIST);
    lock_from_afar(0);
    server = ACME_SERVE(&places[0], "--https", ACME_NAMES, "--log-level",
                        "info");
    assert_true(eventually(acme_has_said(server, "another process is at work"),
                           10000));
    pause_ms(2500);
    assert_int_equal(pebble_count(pebble, "Added order"), 0);
    lock_from_afar(301); /* it says nothing more */
    assert_true(eventually(acme_is_trusted(&places[0], "sprintd.example.net",
                                           root),
                           20000));
    server_stop(server);
}

SUITE(.begin = acme_begin, .end = harness_end, .each_end = after);
