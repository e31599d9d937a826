#include "base/file_broker.h"

#include "suite.h"

static enum file_need asked_need;
static const char *asked_path;
static int answer;

static int on_asked(void *context, enum file_need need, const char *path)
{
    assert_ptr_equal(context, &answer);
    asked_need = need;
    asked_path = path;
    return answer;
}

static const struct file_broker broker = {on_asked, &answer};

static int tear_down(void **state)
{
    (void)state;
    file_broker_set(NULL);
    return 0;
}

TEST(what_is_forbidden_is_asked_for)
{
    static const int errors[] = {-EACCES, -EPERM};

    file_broker_set(&broker);
    for (size_t i = 0; i < 2; i++) {
        asked_path = NULL;
        answer = 7;
        assert_int_equal(file_broker_ask(FILE_APPEND, "log", errors[i]), 7);
        assert_string_equal(asked_path, "log");
        assert_int_equal(asked_need, FILE_APPEND);
    }
    answer = -ENXIO;
    assert_int_equal(file_broker_ask(FILE_APPEND, "log", -EACCES), -ENXIO);
}

TEST(other_faults_are_nothing_to_ask_about)
{
    file_broker_set(&broker);
    asked_path = NULL;
    assert_int_equal(file_broker_ask(FILE_READ, "a", -ENOENT), -ENOENT);
    assert_null(asked_path);
}

TEST_WITH(without_a_broker_the_fault_stays, NULL, NULL)
{
    assert_int_equal(file_broker_ask(FILE_READ, "a", -EACCES), -EACCES);
}

SUITE(.each_end = tear_down);
