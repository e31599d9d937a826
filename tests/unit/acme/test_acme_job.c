#include "acme/acme_job.h"

#include "suite.h"

static bool is_for(const char *name)
{
    static const char *items[] = {"a.example", "*.b.example"};
    const struct managed_certificate certificate = {
        .names = {.items = items, .count = 2}};
    const struct acme_job job = {.certificate = &certificate};

    return acme_job_is_for(&job, bytes_of(name));
}

TEST(a_job_is_for_its_names_in_any_case)
{
    assert_true(is_for("a.example"));
    assert_true(is_for("A.Example"));
}

/* An authority calls what is below a name by that name. */
TEST(a_job_for_all_below_a_name_is_for_the_name)
{
    assert_true(is_for("b.example"));
}

TEST(a_job_is_for_no_name_that_nobody_asked_for)
{
    assert_false(is_for("example"));
    assert_false(is_for("c.example"));
    assert_false(is_for("x.b.example"));
    assert_false(is_for("*.b.example"));
    assert_false(is_for("*.a.example"));
    assert_false(is_for("a.example."));
    assert_false(is_for(""));
}
