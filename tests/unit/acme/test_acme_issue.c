/* link: -lcurl */
#include "acme/acme_issue.h"

#include <time.h>

#include "make_certificate.h"
#include "suite.h"

enum { DAY_S = 24 * 3600 };

static struct made made, other;

static int begin(void **state)
{
    (void)state;
    made = make_certificate(&(struct making){
        .subject = "a.example", .names = "DNS:a.example,DNS:b.example"});
    other = make_certificate(&(struct making){.subject = "authority",
                                              .is_authority = true});
    return 0;
}

static int end(void **state)
{
    (void)state;
    made_free(&made);
    made_free(&other);
    return 0;
}

/* Expects that fault of a chain to the names, at so many seconds from now; "":
 * there is none. */
static void expect_fault(const char *chain, const char *last_name,
                         int64_t ahead_s, const char *expected)
{
    const char *items[] = {"a.example", last_name};
    const struct texts names = {.items = items, .count = 2};
    char *key = made_key(&made, NULL);
    char fault[ACME_FAULT_MAX];

    acme_issue_judge(bytes_of(chain), bytes_of(key), &names,
                     time(NULL) + ahead_s, fault);
    if (*expected == '\0')
        assert_string_equal(fault, "");
    else if (!strstr(fault, expected))
        fail_msg("it is not '%s' but: %s", expected, fault);
    free(key);
}

TEST(a_chain_is_judged_before_it_is_kept)
{
    const struct made *const parts[] = {&made, &other, NULL};
    char *chain = made_chain(parts);
    char *stranger = made_text(&other);

    expect_fault(chain, "b.example", 0, "");
    expect_fault("", "b.example", 0, "is empty");
    expect_fault(stranger, "b.example", 0, "another key");
    expect_fault(chain, "c.example", 0, "is not for c.example");
    expect_fault(chain, "b.example", 100 * DAY_S, "has ended already");
    expect_fault(chain, "b.example", -100 * DAY_S, "does not count yet");
    free(stranger);
    free(chain);
}

/* In the file that is kept it would stand before the certificate's own. */
TEST(a_chain_brings_no_private_key)
{
    char *text = made_text(&made);
    char *with = made_text_and_key(&made, &made);
    char *with_other = made_text_and_key(&made, &other);

    expect_fault(text, "b.example", 0, "");
    expect_fault(with, "b.example", 0, "a private key with it");
    expect_fault(with_other, "b.example", 0, "a private key with it");
    free(with_other);
    free(with);
    free(text);
}

SUITE(.begin = begin, .end = end);
