#include "process/certificates/local_https.h"
#include "suite.h"

#include <sysexits.h>

#include "unit/place.h"

static struct place place;
static char told[8192];

static int set_up(void **state)
{
    (void)state;
    memset(told, 0, sizeof(told));
    unsetenv("STATE_DIRECTORY");
    return place_open(&place) == 0 ? setenv("XDG_DATA_HOME", place.name, 1)
                                   : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return place_close(&place);
}

static const struct options told_nothing;

static FILE *open_told(void)
{
    FILE *to = fmemopen(told, sizeof(told), "w");

    assert_non_null(to);
    return to;
}

TEST(the_file_is_there_and_how_to_trust_it_is_said)
{
    struct local_https https;
    FILE *to = open_told();

    assert_int_equal(local_https_open(&https, &told_nothing, NULL, stderr),
                     EX_OK);
    assert_string_equal(https.path,
                        place_path(&place, "sprintd/tls/localhost.pem"));
    assert_int_equal(access(https.path, R_OK), 0);
    local_https_tell(&https, to);
    fclose(to);
    assert_non_null(strstr(told, "sprintd tls trust '"));
    assert_non_null(strstr(told, place_path(&place, "sprintd/tls")));
}

TEST(what_is_wrong_is_said)
{
    struct local_https https;
    FILE *to = open_told();

    assert_int_equal(place_write(&place, "sprintd", "a file"), 0);
    assert_int_equal(local_https_open(&https, &told_nothing, NULL, to),
                     EX_CANTCREAT);
    fclose(to);
    assert_non_null(strstr(told, "sprintd: --https: "));
    assert_non_null(strstr(told, "Not a directory"));
}

TEST(the_next_configuration_has_it_where_the_first_had)
{
    struct local_https first, second;

    assert_int_equal(local_https_open(&first, &told_nothing, NULL, stderr),
                     EX_OK);
    assert_int_equal(unlink(first.path), 0);
    setenv("XDG_DATA_HOME", "/nowhere", 1);
    assert_int_equal(local_https_open(&second, &told_nothing, &first, stderr),
                     EX_OK);
    assert_string_equal(second.path, first.path);
    assert_int_equal(access(second.path, R_OK), 0);
    assert_int_equal(unlink(first.path), 0);
    assert_int_equal(local_https_renew(&second, stderr), EX_OK);
    assert_int_equal(access(second.path, R_OK), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
