#include "config/option_rule.h"

#include "suite.h"

static const struct {
    const char *option;
    const char *good[4];
    const char *bad[5];
} cases[] = {
    {"cache-control",
     {"no-cache", "max-age=3600, public"},
     {"max-age=soon", "max-age", "no cache at all"}},
    {"cache-control-for",
     {"*.css max-age=3", "text/html no-cache", "/a/** no-store"},
     {"*.css", "max-age=3"}},
    {"type",
     {"*.ts video/mp2t", "/a/** text/plain; charset=latin1"},
     {"*.ts", "video/mp2t", "*.ts video", ""}},
    {"priority",
     {"*.css u=1", "/a/** u=6, i", "* i=?0"},
     {"*.css", "u=1", "*.css u=8", "*.css urgent", ""}},
    {"index", {"index.html", "start"}, {"a/b", "/index.html"}},
    {"try-files",
     {"$path", "$path.html", "/app.html", "=404"},
     {"app.html", "$uri", "/a/../b", "=200", "/$path"}},
    {"error-page",
     {"404 /404.html", "403 5xx /a"},
     {"404", "/404.html", "200 /a", "404 a", "6xx /a"}},
    {"redirect",
     {"/a /b", "/a/* /b/$1 301", "/a https://b.example/"},
     {"/a", "/a /b 200", "/a /b 301 x", "/a/* /b/$2", "/a /b 3010"}},
    {"respond-type", {"text/html", "text/plain; charset=utf-8"}, {"html"}},
    {"header-set",
     {"X-A: b", "Content-Type: text/html"},
     {"X-A", "X A: b", "X-A:", "Content-Length: 3", "Date: now"}},
    {"header-add", {"Link: </a>"}, {"Connection: close", ": x"}},
    {"header-remove", {"Server"}, {"Date", "X: y"}},
    {"cors-origin",
     {"*", "https://a.example", "https://*.a.example:8443"},
     {"a.example", "https://a.example/", "https://a.example:443", "null"}},
    {"cors-method", {"GET", "PURGE"}, {"GET, PUT", "G T"}},
    {"cors-header", {"X-Token"}, {"X Token"}},
    {"cors-expose", {"X-Total"}, {"X:Total"}},
    {"auth-realm", {"members", "the \"members\""}, {NULL}},
    {"rate-limit", {"10/s", "300/m", "1000/h"}, {"10", "0/s", "1/d", "1.5/s"}},
    {"proxy",
     {"/=http://a", "/b=unix:/run/b:/;backup", "/=https://a"},
     {"/", "/=a", "a=http://a", "/=ftp://a"}},
    {"proxy-balance", {"random", "hash:X-A"}, {"hash:", "fair"}},
    {"proxy-name", {"sprintd", "a.b-1"}, {"", "a b", "a,b"}},
    {"proxy-tls-name", {"a.example", "10.0.0.1", "::1"}, {"", "a b", "*.a"}},
    {"proxy-probe", {"/", "/health?full"}, {"", "health", "/a b", "/a#b"}},
    {"proxy-probe-status", {"200", "200-399"}, {"100", "ok", "300-200"}},
    /* These take any text. */
    {"root", {"/srv", "", "a b"}, {NULL}},
    {"respond", {"anything", ""}, {NULL}},
};

static const struct option_row *row_of(const char *name)
{
    const struct option_row *row = option_find(bytes_of(name));

    if (!row)
        fail_msg("there is no option %s", name);
    return row;
}

TEST(what_is_good_passes_and_what_is_not_is_told)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct option_row *row = row_of(cases[i].option);

        for (size_t j = 0; j < 4 && cases[i].good[j]; j++) {
            const char *words = option_rule_check(row,
                                                  bytes_of(cases[i].good[j]));

            if (words)
                fail_msg("%s: '%s' %s", row->name, cases[i].good[j], words);
        }
        for (size_t j = 0; j < 5 && cases[i].bad[j]; j++)
            if (!option_rule_check(row, bytes_of(cases[i].bad[j])))
                fail_msg("%s takes '%s'", row->name, cases[i].bad[j]);
    }
}

TEST(a_realm_has_an_end)
{
    static char lots[257];
    const struct option_row *row = row_of("auth-realm");

    memset(lots, 'a', sizeof(lots));
    assert_null(option_rule_check(row, (struct bytes){lots, 255}));
    assert_non_null(option_rule_check(row, (struct bytes){lots, 256}));
    row = row_of("index");
    assert_null(option_rule_check(row, (struct bytes){lots, 255}));
    assert_non_null(option_rule_check(row, (struct bytes){lots, 256}));
    row = row_of("proxy-name");
    assert_null(option_rule_check(row, (struct bytes){lots, 64}));
    assert_non_null(option_rule_check(row, (struct bytes){lots, 65}));
}
