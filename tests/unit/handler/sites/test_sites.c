#include "handler/sites/sites.h"

#include "handler/challenge.h"
#include "http/http1/http1.h"
#include "unit/handler/sent.h"
#include "unit/place.h"
#include "unit/small_cache.h"

enum { SITES_MAX = 4, LOCATIONS_MAX = 4, ANSWER_MAX = 4096 };

static struct place place;
static struct mime *mime;
static struct now now;
static struct arena arena;
static struct docroots roots;
static struct location_options location;
static struct site_options site[SITES_MAX];
static struct site_location locations[SITES_MAX][LOCATIONS_MAX];
static struct sites_options options;
static struct sites *sites;
static const char *rules[] = {"a", "b", "c"};
/* The proxies that the top tells of; those of proxied are meant. */
static struct texts listed = {rules, 3};
static struct proxied proxied[4];
static unsigned gone;
static bool has_body; /* the handler is told of a body first */
static bool has_sink; /* a sink that takes one was made, and not destroyed */

static void on_gone(void *context)
{
    ++*(unsigned *)context;
}

/* A folder with a file that names it, opened as a root. */
static const char *make_root(const char *name)
{
    const char *path;
    char file[100];

    assert_int_equal(mkdirat(place.fd, name, 0755), 0);
    snprintf(file, sizeof(file), "%s/file", name);
    assert_int_equal(place_write(&place, file, name), 0);
    path = arena_text(&arena, bytes_of(place_path(&place, name)));
    assert_int_equal(docroots_open(&roots, &arena, path, false), 0);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    mime = mime_create(NULL);
    if (!mime || place_open(&place) != 0)
        return -1;
    now = (struct now){.mono_ms = 1000000, .wall_s = 4000000000};
    now.wall_ns = now.wall_s * 1000000000;
    gone = 0;
    has_body = has_sink = false;
    location = (struct location_options){.root = make_root("all"),
                                         .index = "index.html"};
    memset(site, 0, sizeof(site));
    memset(locations, 0, sizeof(locations));
    options = (struct sites_options){.sites = site,
                                     .location = &location,
                                     .roots = &roots,
                                     .cache = small_cache(mime, &now),
                                     .on_gone = on_gone,
                                     .context = &gone};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sites_release(&sites);
    docroots_close(&roots);
    roots = (struct docroots){0};
    arena_fini(&arena);
    mime_destroy(mime);
    return place_close_tidy(&place);
}

/* The next site, which serves root, for hosts separated by spaces. */
static struct site_options *add_site(const char *root, const char *hosts)
{
    struct site_options *added = &site[options.site_count];

    assert_true(options.site_count < SITES_MAX);
    added->name = root;
    added->options = (struct location_options){
        .root = make_root(root), .index = "index.html", .proxy = listed};
    added->locations = locations[options.site_count++];
    while (*hosts) {
        size_t len = strcspn(hosts, " ");
        const char *host = arena_text(&arena, (struct bytes){hosts, len});

        assert_true(texts_add(&added->hosts, &arena, host));
        hosts += len + (hosts[len] == ' ');
    }
    return added;
}

static struct location_options *add_location(struct site_options *to,
                                             const char *path, const char *root)
{
    struct site_location *added = &to->locations[to->location_count++];

    assert_true(to->location_count <= LOCATIONS_MAX);
    added->is_exact = *path == '=';
    added->path = bytes_of(path + added->is_exact);
    added->options = (struct location_options){.root = make_root(root),
                                               .index = "index.html",
                                               .proxy = to->options.proxy};
    return &added->options;
}

static void make(void)
{
    sites = sites_create(&options);
    assert_non_null(sites);
}

/* --- Asking -------------------------------------------------------------- */

static struct exchange exchange;
static char text[ANSWER_MAX]; /* the answer */

static void end_exchange(void)
{
    exchange_fini(&exchange);
}

/* Leaves the exchange as it is then. */
static void begin(const char *method, const char *host, const char *target)
{
    static char request[2 * HTTP1_LINE_BYTES_MAX];
    struct handler handler = sites_handler(sites);
    struct http1_progress progress = {0};
    struct response *response = &exchange.response;
    enum reason reason;
    size_t used;

    snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n",
             method, target, host);
    response_init(response, &exchange.room.response);
    exchange.request.fields = exchange.room.fields;
    response->persists = true;
    exchange.on_done = NULL;
    exchange.has_begun = false;
    if (http1_parse(&progress, request, strlen(request), &exchange.request,
                    &used, &reason) != HTTP1_DONE) {
        /* It does not even come here. */
        response->status = (uint16_t)reason_status(reason);
        return;
    }
    if (has_body)
        handler.begin(handler.self, &exchange, exchange.request.path);
    handler.answer(handler.self, &exchange, exchange.request.path);
    assert_true(sent_look(&exchange, &now));
    assert_true(sent_is_memory(response));
    sent_copy(response, text, sizeof(text));
}

/* What comes behind the head. */
static const char *ask(const char *host, const char *target)
{
    const char *body;

    begin("GET", host, target);
    end_exchange();
    body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    return body + 4;
}

static unsigned status_of(const char *method, const char *target)
{
    unsigned status;

    begin(method, "h", target);
    status = exchange.response.status;
    end_exchange();
    return status;
}

TEST(without_sites_everybody_gets_the_one_root)
{
    make();
    assert_string_equal(ask("h", "/file"), "all");
    assert_string_equal(ask("other.example:81", "/./x/../fil%65"), "all");
}

TEST(a_path_that_leads_out_or_is_none_is_refused)
{
    static const char *const paths[] = {"/../file",  "/..%2ffile",
                                        "/x%2ffile", "/file%00",
                                        "/file%zz",  "/file%",
                                        "/%2e%2e/f", "/a/../../file"};

    make();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (status_of("GET", paths[i]) != 400)
            fail_msg("%s is %u", paths[i], exchange.response.status);
}

TEST(options_of_the_server_says_what_is_allowed)
{
    make();
    assert_int_equal(status_of("OPTIONS", "*"), 204);
    assert_non_null(strstr(text, "\r\nAllow: GET, HEAD, OPTIONS\r\n"));
}

TEST(a_host_leads_to_its_site)
{
    add_site("one", "one.example *.one.example");
    add_site("two", "two.example [::1]");
    make();
    assert_string_equal(ask("one.example", "/file"), "one");
    assert_string_equal(ask("www.one.example", "/file"), "one");
    assert_string_equal(ask("TWO.example:8080", "/file"), "two");
    assert_string_equal(ask("[::1]", "/file"), "two");
    assert_string_equal(ask("three.example", "/file"), "one");
}

TEST(a_site_without_hosts_is_for_all_others)
{
    add_site("one", "one.example");
    add_site("rest", "");
    add_site("late", "");
    make();
    assert_string_equal(ask("one.example", "/file"), "one");
    assert_string_equal(ask("three.example", "/file"), "rest");
}

TEST(a_location_has_its_own_root)
{
    struct site_options *one = add_site("one", "");

    assert_int_equal(mkdirat(place.fd, "one/deep", 0755), 0);
    assert_int_equal(place_write(&place, "one/deep/file", "not this"), 0);
    add_location(one, "/deep", "other");
    assert_int_equal(mkdirat(place.fd, "other/deep", 0755), 0);
    assert_int_equal(place_write(&place, "other/deep/file", "deep"), 0);
    add_location(one, "=/deep/file", "exact");
    make();
    assert_string_equal(ask("h", "/file"), "one");
    assert_int_equal(status_of("GET", "/deep/file"), 404);
    assert_string_equal(ask("h", "/deep/./x/../file"), ask("h", "/deep/file"));
    site[0].location_count = 1;
    sites_release(&sites);
    make();
    assert_string_equal(ask("h", "/deep/file"), "deep");
    assert_string_equal(ask("h", "/x/../%64eep/file"), "deep");
}

TEST(a_location_can_have_its_path_stripped)
{
    struct site_options *one = add_site("one", "");
    struct location_options *files = add_location(one, "/files", "alias");

    files->strip_prefix = true;
    assert_int_equal(mkdirat(place.fd, "alias/folder", 0755), 0);
    make();
    assert_string_equal(ask("h", "/files/file"), "alias");
    assert_int_equal(status_of("GET", "/files?q"), 301);
    assert_non_null(strstr(text, "\r\nLocation: /files/?q\r\n"));
    assert_int_equal(status_of("GET", "/files/folder"), 301);
    assert_non_null(strstr(text, "\r\nLocation: /files/folder/\r\n"));
    assert_int_equal(status_of("GET", "/files/files/file"), 404);
    assert_int_equal(status_of("GET", "/files/../../file"), 400);
}

TEST(roots_share_a_cache_and_no_files)
{
    struct file_cache_counts counts;

    add_site("one", "one.example");
    add_site("two", "two.example");
    site[1].options.cache_control = "max-age=2";
    make();
    for (int i = 0; i < 3; i++) {
        assert_string_equal(ask("one.example", "/file"), "one");
        assert_null(strstr(text, "Cache-Control"));
        assert_string_equal(ask("two.example", "/file"), "two");
        assert_non_null(strstr(text, "\r\nCache-Control: max-age=2\r\n"));
    }
    counts = sites_count_files(sites);
    assert_int_equal(counts.entries, 2);
    assert_int_equal(counts.hits, 4);
    assert_int_equal(counts.misses, 2);
}

TEST(an_exchange_keeps_the_sites_that_answer_it)
{
    make();
    begin("GET", "h", "/file");
    sites_release(&sites);
    assert_null(sites);
    assert_int_equal(gone, 0);
    end_exchange();
    assert_int_equal(gone, 1);
}

static void answer_teapot(void *self, struct exchange *asked, struct bytes rest)
{
    assert_null(self);
    assert_true(bytes_eq(rest, BYTES("/pot")));
    response_make_error(&asked->response, 418, BYTES(""),
                        &options.cache.defaults);
}

TEST(a_mount_is_in_every_site)
{
    add_site("one", "one.example");
    add_site("two", "");
    options.mounts[0] = (struct mount){.prefix = BYTES("/_status"),
                                       .handler = {.answer = answer_teapot}};
    options.mount_count = 1;
    make();
    ask("one.example", "/_status/pot");
    assert_int_equal(exchange.response.status, 418);
    ask("two.example", "/x/../_status/pot");
    assert_int_equal(exchange.response.status, 418);
    assert_string_equal(ask("one.example", "/file"), "one");
}

/* --- Bodies -------------------------------------------------------------- */

static void destroy_sink(struct sink *sink)
{
    (void)sink;
    has_sink = false;
}

static void begin_with_sink(void *self, struct exchange *asked,
                            struct bytes rest)
{
    static struct sink sink = {.destroy = destroy_sink};

    (void)self;
    (void)rest;
    asked->sink = &sink;
    has_sink = true;
}

static void answer_with_sink(void *self, struct exchange *asked,
                             struct bytes rest)
{
    (void)self;
    (void)rest;
    response_make_error(&asked->response, 418, BYTES(""),
                        &options.cache.defaults);
}

/* A place takes the body of a request for a challenge, since the answer is not
 * known before the body. */
TEST(whoever_answers_in_front_of_a_place_drops_its_sink)
{
    options.mounts[0] = (struct mount){.prefix = BYTES("/.well-known"),
                                       .handler = {.begin = begin_with_sink,
                                                   .answer = answer_with_sink}};
    options.mount_count = 1;
    options.challenges = place.name;
    make();
    assert_int_equal(place_write(&place, "token", "text"), 0);
    has_body = true;
    begin("GET", "h", CHALLENGE_PREFIX "token");
    assert_int_equal(exchange.response.status, 200);
    assert_false(has_sink);
    end_exchange();
    begin("GET", "h", CHALLENGE_PREFIX "other");
    assert_int_equal(exchange.response.status, 418);
    assert_true(has_sink);
    end_exchange();
    assert_false(has_sink);
}

/* --- Proxies ---------------------------------------------------------- */

static void answer_from_afar(void *self, struct exchange *asked,
                             struct bytes rest)
{
    (void)rest;
    response_make_error(&asked->response, *(unsigned *)self, BYTES(""),
                        &options.cache.defaults);
}

/* At "" and "/app"; their answers are 418 and 421. */
static void tell_two(void)
{
    static unsigned codes[] = {418, 421};

    location.proxy = listed;
    proxied[0] = (struct proxied){.said_in = listed.items,
                                  .prefix = BYTES(""),
                                  .handler = {.answer = answer_from_afar,
                                              .self = &codes[0]}};
    proxied[1] = (struct proxied){.said_in = listed.items,
                                  .prefix = BYTES("/app"),
                                  .handler = {.answer = answer_from_afar,
                                              .self = &codes[1]}};
    options.proxied = proxied;
    options.proxied_count = 2;
}

TEST(a_proxy_may_be_all_there_is)
{
    tell_two();
    make();
    assert_int_equal(status_of("GET", "/"), 418);
    assert_int_equal(status_of("POST", "/file"), 418);
    assert_int_equal(status_of("GET", "/application"), 418);
    assert_int_equal(status_of("GET", "/app"), 421);
    assert_int_equal(status_of("GET", "/x/../app/"), 421);
    assert_int_equal(status_of("GET", "/app%2fx"), 400);
}

TEST(a_location_of_its_own_is_no_part_of_a_proxy)
{
    struct site_options *one = add_site("one", "");

    tell_two();
    add_location(one, "/app/files", "files")->strip_prefix = true;
    add_location(one, "/app", "app")->respond = "hello";
    make();
    assert_string_equal(ask("h", "/app/files/file"), "files");
    assert_string_equal(ask("h", "/app/x"), "hello");
    assert_int_equal(status_of("GET", "/file"), 418);
}

/* A block of all addresses of IPv4. */
static const struct cidr everybody = {.family = ADDRESS_IPV4};
static const struct address peer = {.family = ADDRESS_IPV4,
                                    .octets = {192, 0, 2, 1}};

TEST(what_a_site_is_told_counts_for_proxies)
{
    struct site_options *one = add_site("one", "one.example");

    add_site("two", "");
    tell_two();
    one->options.deny = (struct cidrs){.items = (struct cidr *)&everybody,
                                       .count = 1};
    exchange.peer = &peer;
    make();
    ask("one.example", "/app/x");
    assert_int_equal(exchange.response.status, 403);
    ask("two.example", "/app/x");
    assert_int_equal(exchange.response.status, 421);
}

TEST(what_a_location_is_told_counts_for_proxies_in_and_around_it)
{
    static const char *const inside[] = {"/app/admin", "/app/admin/x",
                                         "/app/./admin/", "/app//admin/x",
                                         "/exact"};
    struct site_options *one = add_site("one", "");
    const struct cidrs all = {.items = (struct cidr *)&everybody, .count = 1};

    tell_two();
    for (size_t i = 0; i < 3; i++) {
        static const char *const paths[] = {"/app/admin", "=/exact", "/deep"};
        static const char *const roots_of[] = {"first", "second", "third"};
        struct location_options *said = add_location(one, paths[i],
                                                     roots_of[i]);

        *said = one->options; /* it says no root of its own */
        said->deny = all;
    }
    proxied[2] = proxied[1];
    proxied[2].prefix = BYTES("/deep/app");
    options.proxied_count = 3;
    exchange.peer = &peer;
    make();
    for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
        if (status_of("GET", inside[i]) != 403)
            fail_msg("%s is %u", inside[i], exchange.response.status);
    assert_int_equal(status_of("GET", "/deep/app/x"), 403);
    assert_int_equal(status_of("GET", "/app/administrator"), 421);
    assert_int_equal(status_of("GET", "/exact/x"), 418);
    site[0].locations[0].options.deny.count = 0;
    assert_int_equal(status_of("GET", "/app/admin"), 421);
}

TEST(a_list_of_its_own_replaces_that_of_the_top)
{
    static const char *own[] = {"own"};
    static unsigned code = 423;
    struct site_options *one = add_site("one", "one.example");

    add_site("two", "two.example");
    add_site("three", "three.example")->options.proxy = (struct texts){0};
    tell_two();
    one->options.proxy = (struct texts){own, 1};
    proxied[2] = (struct proxied){.said_in = own,
                                  .prefix = BYTES("/app"),
                                  .handler = {.answer = answer_from_afar,
                                              .self = &code}};
    options.proxied_count = 3;
    make();
    ask("one.example", "/app/x");
    assert_int_equal(exchange.response.status, 423);
    assert_string_equal(ask("one.example", "/file"), "one");
    ask("two.example", "/app/x");
    assert_int_equal(exchange.response.status, 421);
    assert_string_equal(ask("three.example", "/file"), "three");
}

TEST(a_location_has_a_proxy_for_itself_and_what_lies_in_it)
{
    static const char *own[] = {"own"};
    static const char *exact[] = {"exact"};
    static unsigned codes[] = {423, 424};
    struct site_options *one = add_site("one", "");

    tell_two();
    one->options.proxy = (struct texts){0};
    add_location(one, "/app", "app")->proxy = (struct texts){own, 1};
    add_location(one, "=/one", "exact")->proxy = (struct texts){exact, 1};
    *add_location(one, "/app/in", "in") = one->options;
    add_location(one, "/app/files", "files")->strip_prefix = true;
    for (size_t i = 0; i < 2; i++)
        proxied[i] = (struct proxied){
            .said_in = i == 0 ? own : exact,
            .prefix = i == 0 ? BYTES("/app") : BYTES("/one"),
            .handler = {.answer = answer_from_afar, .self = &codes[i]}};
    make();
    assert_int_equal(status_of("GET", "/app"), 423);
    assert_int_equal(status_of("GET", "/app/in/x"), 423);
    assert_int_equal(status_of("GET", "/one"), 424);
    assert_int_equal(status_of("GET", "/one/x"), 404);
    assert_string_equal(ask("h", "/app/files/file"), "files");
    assert_string_equal(ask("h", "/file"), "one");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
