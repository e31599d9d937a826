#include "config/config_foreign.h"

#include "config/config_section.h"
#include "io/small_file.h"
#include "unit/config/config_fixture.h"

TEST(a_word_is_found_in_any_case)
{
    assert_non_null(config_foreign_find(BYTES("server_name")));
    assert_non_null(config_foreign_find(BYTES("SERVERNAME")));
    assert_non_null(config_foreign_find(BYTES("<VirtualHost")));
    assert_non_null(config_foreign_find(BYTES("</VirtualHost>")));
    assert_null(config_foreign_find(BYTES("")));
    assert_null(config_foreign_find(BYTES("<")));
    assert_null(config_foreign_find(BYTES("</")));
    assert_null(config_foreign_find(BYTES("server_nam")));
}

/* Every "key = " in text is a key. */
static void check_keys(const char *word, const char *text)
{
    const char *equals = text;

    while ((equals = strstr(equals, " = "))) {
        const char *begin = equals;
        struct bytes key;

        while (begin > text && (begin[-1] == '-' || byte_is_digit(begin[-1]) ||
                                (begin[-1] >= 'a' && begin[-1] <= 'z')))
            begin--;
        key = bytes_between(begin, equals);
        if (!option_find(key) && !bytes_eq(key, BYTES(CONFIG_HOSTS)))
            fail_msg("%s: '%.*s' is no key", word, (int)key.len, key.data);
        equals++;
    }
}

TEST(every_meaning_names_what_there_is)
{
    assert_true(config_foreign_count >= 60);
    for (size_t i = 0; i < config_foreign_count; i++) {
        const struct config_foreign *foreign = &config_foreign_words[i];

        check_keys(foreign->word, foreign->meaning);
        assert_string_equal(config_foreign_find(bytes_of(foreign->word)),
                            foreign->meaning);
        assert_true(!option_find(bytes_of(foreign->word)));
    }
}

TEST(a_word_of_others_is_answered_with_its_line)
{
    expect_faults("root = /a\nsite x {\n    server_name a b\n}\n",
                  "file:3: site \"x\": 'server_name' is hosts = {example.org} "
                  "in a site; see docs/migrate.md\n");
    expect_faults(
        "root = /a\nserver.port = 80\nproxy_pass http://a\n",
        "file:2: 'server.port' is port = 80; see docs/migrate.md\n"
        "file:3: 'proxy_pass' is proxy = http://app:9000, in a site or a "
        "location; see docs/migrate.md\n");
    expect_faults("root = /a\nexample.org {\n    file_server\n    x y\n}\n",
                  "file:2: a site is written so: site \"name\" { hosts = "
                  "{example.org} ... }; see docs/migrate.md\n"
                  "file:3: 'file_server' is root = /srv/www; with a list of "
                  "what is there, autoindex = yes; see docs/migrate.md\n");
    expect_faults(
        "root = /a\nserver { listen 80\n  server_name a {\n tls\n} }\n",
        "file:2: 'server' is site \"name\" { ... }; see "
        "docs/migrate.md\n"
        "file:3: 'server_name' is hosts = {example.org} in a site; "
        "see docs/migrate.md\n"
        "file:4: 'tls' is certificate = full.pem with certificate-key = "
        "key.pem; none is needed where hosts are reached by listen = "
        "\"https://:443\"; see docs/migrate.md\n");
    expect_faults("root = /a\n<VirtualHost a>\nServerName a\n</VirtualHost>\n",
                  "file:2: '<VirtualHost' is site \"name\" { ... }; see "
                  "docs/migrate.md\n"
                  "file:3: 'ServerName' is hosts = {example.org} in a site; "
                  "see docs/migrate.md\n");
    /* As a value it is one. */
    expect_faults("root = /a\nindex = server_name\n", "");
}

/* What stands in the page beside theirs is ours. */
TEST(the_page_says_what_is_understood)
{
    struct small_file page;
    const char *at;
    size_t count = 0;

    assert_int_equal(small_file_read(&page, "docs/migrate.md"), 0);
    page.text[page.len] = '\0';
    for (at = page.text; (at = strstr(at, "\n```sprintd\n"));) {
        const char *end;
        char *text;

        at += strlen("\n```sprintd\n");
        end = strstr(at, "```");
        assert_non_null(end);
        text = strndup(at, (size_t)(end - at));
        read_text(text);
        if (faults.count > 0)
            fail_msg("%s%s", text, said);
        free(text);
        count++;
    }
    assert_true(count >= 4);
    small_file_fini(&page);
}

SUITE(.end = tear_down);
