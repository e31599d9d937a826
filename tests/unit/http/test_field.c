#include "http/field.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

TEST(a_name_is_known_by_all_of_it_in_any_case)
{
    static const struct {
        const char *name;
        enum field_id id;
    } cases[] = {
        {"Host", FIELD_HOST},
        {"hOST", FIELD_HOST},
        {"TE", FIELD_TE},
        {"Proxy-Authentication-Info", FIELD_HOP_BY_HOP},
        {"", FIELD_OTHER},
        {"T", FIELD_OTHER},
        {"Tex", FIELD_OTHER},
        {"Hosts", FIELD_OTHER},
        {"Content_Length", FIELD_OTHER},
        {"Content-Lengt\xe8", FIELD_OTHER},
        {"X-Forwarded-Fos", FIELD_OTHER},
        {"Proxy-Authentication-Infos", FIELD_OTHER},
        {"a-name-that-is-longer-than-any-that-is-known", FIELD_OTHER},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(field_identify(bytes_of(cases[i].name)), cases[i].id);
}

TEST(a_name_is_called_as_cgi_reads_it)
{
    static const struct {
        const char *name;
        const char *wanted;
        bool is_so;
    } cases[] = {
        {"Accept-Language", "accept-language", true},
        {"ACCEPT_LANGUAGE", "Accept-Language", true},
        {"Accept.Language", "Accept_Language", true},
        {"Accept-Languag", "Accept-Language", false},
        {"AcceptxLanguage", "Accept-Language", false},
        {"X-1", "x_2", false},
        {"X-1", "x~1", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(field_is_called(bytes_of(cases[i].name),
                                         bytes_of(cases[i].wanted)),
                         cases[i].is_so);
}

TEST(a_list_is_taken_apart_at_its_commas)
{
    static const struct {
        const char *list;
        const char *members[4]; /* up to the first NULL */
    } cases[] = {
        {"", {""}},
        {" \t", {""}},
        {"a", {"a"}},
        {"a,b", {"a", "b"}},
        {" a b\t,\t\"c\" , ", {"a b", "\"c\"", ""}},
        {",,a", {"", "", "a"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bytes list = bytes_of(cases[i].list);
        struct bytes member;
        size_t at = 0;

        while (field_next_member(&list, &member)) {
            assert_non_null(cases[i].members[at]);
            assert_true(bytes_eq(member, bytes_of(cases[i].members[at++])));
        }
        assert_null(cases[i].members[at]);
        assert_false(field_next_member(&list, &member));
    }
}
