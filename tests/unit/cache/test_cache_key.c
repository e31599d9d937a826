#include "cache/cache_key.h"

#include "cache/cache_form.h"
#include "suite.h"

static struct field fields[4];
static struct request request;
static const struct cache_key_rules rules = {.place = {"p", 1}};
static struct cache_key_asker asker;
static struct buf out;

static void ask(const char *host, const char *path, const char *query)
{
    request = (struct request){
        .fields = fields, .host = bytes_of(host), .path = bytes_of(path)};
    asker = (struct cache_key_asker){.is_secure = false};
    if (query)
        request.query = bytes_of(query);
}

static void add(const char *name, const char *value)
{
    fields[request.field_count++] = (struct field){
        .name = bytes_of(name),
        .value = bytes_of(value),
        .id = field_identify(bytes_of(name))};
}

static int set_up(void **state)
{
    (void)state;
    buf_init(&out, NULL, 0, 65536);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    return 0;
}

SUITE(.each_begin = set_up, .each_end = tear_down);

static void assert_key(const char *wanted)
{
    out.len = 0;
    assert_true(cache_key_put(&rules, &request, &asker, &out));
    if (!bytes_eq(buf_bytes(&out), bytes_of(wanted)))
        fail_msg("'%.*s', not '%s'", (int)out.len, out.data, wanted);
}

TEST(what_tells_the_form_of_an_answer_is_in_the_key)
{
    ask("a", "/", NULL);
    add("X-Scheme", "https");
    add("cf_visitor", "{\"scheme\":\"http\"}");
    add("Rsc", "1");
    add("X-Other", "1");
    assert_key("p\nhttp://a/\nx-scheme=https\n"
               "cf_visitor={\"scheme\":\"http\"}\nrsc=1");
    assert_true(bytes_eq(cache_key_address(rules.place, buf_bytes(&out)),
                         BYTES("a/")));
    ask("a", "/", NULL);
    add("X-Sendfile-Type", "X-Sendfile");
    assert_false(cache_key_put(&rules, &request, &asker, &out));
}

/* What writes do not reach is not kept. */
TEST(an_odd_form_of_a_part_of_a_page_has_no_key)
{
    static const char *const odd[][2] = {{"X-Requested-With",
                                          "com.example.app"},
                                         {"x_requested_with", "x"},
                                         {"HX-Request", "1"},
                                         {"X-PJAX", ""},
                                         {"HX-Boosted", "true"},
                                         {"X-Inertia-Partial-Component", "a"},
                                         {"Turbo-Frame", "list"}};

    ask("a", "/", NULL);
    add("X-Requested-With", "XMLHttpRequest");
    assert_key("p\nhttp://a/\nx-requested-with=XMLHttpRequest");
    add("X-PJAX", "true");
    assert_false(cache_key_put(&rules, &request, &asker, &out));
    ask("a", "/", NULL);
    add("X-Scheme", "https");
    add("hx-request", "true");
    assert_false(cache_key_put(&rules, &request, &asker, &out));
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        ask("a", "/", NULL);
        add(odd[i][0], odd[i][1]);
        if (cache_key_put(&rules, &request, &asker, &out))
            fail_msg("%s: %s", odd[i][0], odd[i][1]);
    }
}

/* How many keys with one usual form besides are wanted. */
static unsigned count_found(const struct cache_forms *forms, const char *wanted)
{
    unsigned found = 0;
    size_t len;

    asker.has_no_form = true;
    assert_key("p\nhttp://a/");
    len = out.len;
    for (unsigned i = 0; cache_forms_put_with(forms, &request, i, &out); i++) {
        found += bytes_eq(buf_bytes(&out), bytes_of(wanted));
        out.len = len;
    }
    return found;
}

/* What a proxy in front says is found by those who write without it. */
TEST(the_usual_forms_of_a_key_can_be_listed)
{
    const struct cache_forms none = {.asked = 0};

    ask("a", "/", NULL);
    add("CF-Visitor", "{\"scheme\":\"https\"}");
    assert_int_equal(count_found(&none, "p\nhttp://a/\ncf-visitor="
                                        "{\"scheme\":\"https\"}"),
                     1);
}

/* A browser asks a page of Next.js for its data by a field, and the proxy in
 * front adds its own to that, and to what is written. */
TEST(forms_that_go_together_are_found_in_whichever_order_they_are_told)
{
    static const char both[] = "p\nhttp://a/\nx-scheme=https\nrsc=1";
    struct cache_forms forms;

    ask("a", "/", NULL);
    add("RSC", "1");
    add("X-Scheme", "https");
    assert_key(both);
    ask("a", "/", NULL);
    add("X-Scheme", "https");
    forms = cache_forms_read(&request);
    assert_int_equal(count_found(&forms, both), 1);
    /* One of the same field takes its place. */
    assert_int_equal(count_found(&forms, "p\nhttp://a/\nx-scheme=http"), 1);
}

TEST(scheme_host_path_and_query_make_the_key)
{
    ask("Example.COM:80", "/A%2f", NULL);
    assert_key("p\nhttp://example.com:80/A%2f");
    ask("a", "/", "");
    assert_key("p\nhttp://a/?");
    ask("a", "/", "x=Y");
    asker.is_secure = true;
    assert_key("p\nhttps://a/?x=Y");
}

TEST(what_a_trusted_proxy_says_of_the_address_counts_and_of_the_asker_does_not)
{
    ask("a", "/", NULL);
    add("X-Forwarded-For", "1.2.3.4");
    add("X-Forwarded-Host", "b");
    assert_key("p\nhttp://a/");
    asker.is_trusted = true;
    assert_key("p\nhttp://a/\nx-forwarded-host:b");
    ask("a", "/", NULL);
    add("Forwarded", "for=1.2.3.4;host=c, for=x;proto=https");
    asker.is_trusted = true;
    assert_key("p\nhttp://a/\nforwarded:host=c;proto=https;");
}

TEST(a_request_that_names_another_address_has_no_key)
{
    static const char *const names[] = {
        "X-Original-URL", "x-rewrite-url", "X-HTTP-Method-Override", "X-Host",
        "X_Original-Url", "x_rewrite_url", "X_HTTP_METHOD_OVERRIDE", "$WSSN",
        "$wssc"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        ask("a", "/", NULL);
        add(names[i], "b");
        if (cache_key_put(&rules, &request, &asker, &out))
            fail_msg("%s", names[i]);
    }
}

TEST(what_a_trusted_surrogate_understands_counts)
{
    ask("a", "/", NULL);
    add("Surrogate-Capability", "b=\"ESI/1.0\"");
    assert_key("p\nhttp://a/");
    asker.is_trusted = true;
    assert_key("p\nhttp://a/\nsurrogate-capability:b=\"ESI/1.0\"");
}

/* "//b" would be another host as a reference. */
TEST(what_a_write_makes_invalid_has_the_key_that_a_read_has)
{
    ask("a", "//b/../c", "d");
    assert_key("p\nhttp://a//b/../c?d");
    add("X-Original-URL", "/e");
    out.len = 0;
    assert_true(cache_key_put_target(&rules, &request, &asker, &out));
    assert_true(bytes_eq(buf_bytes(&out), BYTES("p\nhttp://a//b/../c?d")));
}

TEST(a_key_has_a_limit)
{
    static char path[CACHE_KEY_BYTES_MAX + 1];

    memset(path, '/', sizeof(path) - 1);
    ask("a", path, NULL);
    assert_false(cache_key_put(&rules, &request, &asker, &out));
}

static const struct other_case {
    const char *reference;
    const char *key; /* NULL: none */
} others[] = {
    {"/x?y", "p\nhttp://a/x?y"},
    {"/x#y", "p\nhttp://a/x"},
    {"x", "p\nhttp://a/d/x"},
    {"", "p\nhttp://a/d/e"},
    {"#y", "p\nhttp://a/d/e"},
    {"?y", "p\nhttp://a/d/e?y"},
    {"./x", "p\nhttp://a/d/x"},
    {"../x", "p\nhttp://a/x"},
    {"../../../x?..", "p\nhttp://a/x?.."},
    {"..", "p\nhttp://a/"},
    {".", "p\nhttp://a/d/"},
    {"/b/c/./../x/..", "p\nhttp://a/b/"},
    {"/b/..c/...", "p\nhttp://a/b/..c/..."},
    {"/b//../x", "p\nhttp://a/b/x"},
    {"x?to=http://b/", "p\nhttp://a/d/x?to=http://b/"},
    {"x#//b", "p\nhttp://a/d/x"},
    {"http://a", "p\nhttp://a/"},
    {"http://a?y", "p\nhttp://a/?y"},
    {"http://a:80/x", "p\nhttp://a/x"},
    {"https://a:443/x", "p\nhttp://a/x"},
    {"http://a:81/x", NULL},
    {"http://u@a/x", NULL},
    {"http:x", NULL},
    {"//b", NULL},
    {"http://A/x", "p\nhttp://a/x"},
    {"https://a/x", "p\nhttp://a/x"},
    {"//a/x", "p\nhttp://a/x"},
    {"http://b/x", NULL},
    {"ftp://a/x", NULL},
    {"mailto:a", NULL},
    {"/r?to=http://b/", "p\nhttp://a/r?to=http://b/"},
};

TEST(another_address_of_the_same_host_has_its_own_key)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        bool has;

        ask("a", "/d/e", NULL);
        out.len = 0;
        has = cache_key_put_other(&rules, &request, &asker,
                                  bytes_of(others[i].reference), &out);
        if (has != (others[i].key != NULL) ||
            (has && !bytes_eq(buf_bytes(&out), bytes_of(others[i].key))))
            fail_msg("'%s': '%.*s'", others[i].reference, (int)out.len,
                     out.data);
    }
}
