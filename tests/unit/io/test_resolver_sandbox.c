/* link: -Wl,--wrap=ev_timer_again */
#include "io/resolver.h"

#include <signal.h>
#include <sysexits.h>

#include "base/log.h"
#include "confine/sandbox.h"
#include "unit/confine/enclosed.h"
#include "unit/io/resolver_fixture.h"

/* All in a child, as there is no way out. 0: it has done what it should;
 * EX_UNAVAILABLE: this machine has not all of a sandbox. */

static bool has_paths;
static bool sends_udp;

static int enter(void)
{
    static struct sandbox sandbox;
    struct sandbox_path paths[8] = {{place.name, PATH_READ, false}};
    struct sandbox_options sandbox_options = {.mode = SANDBOX_STRICT,
                                              .paths = paths,
                                              .path_count = 1,
                                              .connects_tcp = true,
                                              .sends_udp = sends_udp};

    for (size_t i = 0; has_paths && resolver_paths[i]; i++)
        paths[sandbox_options.path_count++] = (struct sandbox_path){
            resolver_paths[i], PATH_READ, true};
    return sandbox_enter(&sandbox, &sandbox_options);
}

static int look_up_inside(void)
{
    int status = enter();

    if (status != EX_OK)
        return status;
    if (resolver_create(&resolver, &options) != 0)
        return 1;
    open_name("localhost");
    if (resolver_name_state(name) != RESOLVER_KNOWN)
        return 2;
    zone.is_truncated = true; /* so that TCP is used as well */
    zone.ipv6_count = 1;
    find_name("www.test");
    if (resolver_name_state(name) != RESOLVER_KNOWN || count_of(name) != 2 ||
        server.asked_tcp != 2)
        return 3;
    resolver_destroy(resolver);
    return 0;
}

static int create_inside(void)
{
    int status = enter();

    if (status != EX_OK)
        return status;
    return resolver_create(&resolver, &options) == -EACCES ? 0 : 1;
}

static int set_up_outside(void **state)
{
    has_paths = sends_udp = true;
    if (set_up(state) != 0)
        return -1;
    resolver_destroy(resolver);
    resolver = NULL;
    return 0;
}

static int run(int (*act)(void))
{
    int status = sandbox_is_built_in() ? enclosed(act) : EX_UNAVAILABLE;

    if (status == EX_UNAVAILABLE)
        skip();
    return status;
}

TEST(a_strict_sandbox_lets_names_be_looked_up)
{
    assert_int_equal(run(look_up_inside), 0);
}

TEST(without_its_files_there_is_no_resolver)
{
    has_paths = false;
    assert_int_equal(run(create_inside), 0);
}

TEST(udp_must_be_asked_for)
{
    sends_udp = false;
    assert_int_equal(run(look_up_inside), 128 + SIGSYS);
}

static int quieten(void **state)
{
    (void)state;
    log_set_lightest(LOG_LEVEL_ERROR);
    return 0;
}

SUITE(.begin = quieten, .each_begin = set_up_outside, .each_end = tear_down);
