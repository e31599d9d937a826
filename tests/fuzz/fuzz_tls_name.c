/*
 * fuzz_tls_name - names that clients write: in the server_name extension of a
 * ClientHello, and in the Host field of a request over TLS.
 *
 * The first byte says which; the rest is it. A name that is read out of an
 * extension is all of it but its head. A host that leads to a site which asks
 * clients for certificates is never served over a connection that was made for
 * another: sites and tables of certificates look names up each in their own
 * way, and must agree. Any breach aborts.
 */
#include "handler/hosts.h"
#include "head_checks.h"
#include "io/tls/tls_authority.h"
#include "io/tls/tls_context.h"
#include "io/tls/tls_name.h"
#include "io/tls/tls_tickets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    EXTENSION_HEAD = 5,
    VALUE_MAX = 600,
    NOW_S = 1784600000 /* in July 2026 */
};
enum { OPEN, CLOSED, SITES };

static const char *const open_hosts[] = {"open.example", "*.open.example",
                                         "192.0.2.1", NULL};
static const char *const closed_hosts[] = {
    "closed.example", "*.closed.example", "*.in.open.example", "b.open.example",
    "[2001:db8::1]",  "192.0.2.2",        "*.deep.b.example",  NULL};

static struct arena arena;
static struct hosts hosts;
static int sites[SITES]; /* their addresses stand for them */

/* Of the tables, the first has the open site for hosts that nobody has, and the
 * other the closed one. */
static struct tls_table *tables[SITES];

/* --- What they are asked of ---------------------------------------------- */

static void add_hosts(const char *const *names, int *site)
{
    for (; *names; names++)
        CHECK(hosts_add(&hosts, &arena, bytes_of(*names), site));
}

static void add_set(struct tls_table *table, int site,
                    struct tls_certificate *certificate, struct bytes authority)
{
    const char *const *names = site == OPEN ? open_hosts : closed_hosts;
    struct tls_set_options options = {
        .name = site == OPEN ? "open" : "closed",
        .certificates = &certificate,
        .certificate_count = 1,
        .client = site == OPEN ? TLS_CLIENT_NONE : TLS_CLIENT_REQUIRE,
        .client_ca = authority};
    char fault[TLS_FAULT_MAX];
    size_t number;

    CHECK(tls_table_add(table, &options, &number, fault) == 0);
    for (; *names; names++)
        CHECK(tls_table_name(table, number, bytes_of(*names)));
}

/* One that has signed itself will do for all, as nobody shakes hands. */
static struct tls_certificate *make_certificate(struct tls_pem *pem)
{
    struct tls_authority *authority = tls_authority_create("x", NOW_S);
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];
    struct bytes text;

    CHECK(authority && tls_authority_save(authority, pem) == 0);
    text = (struct bytes){pem->text, pem->len};
    CHECK(tls_certificate_create(&certificate, text, text, fault) == 0);
    tls_authority_destroy(authority);
    return certificate;
}

static void make_tables(void)
{
    struct tls_tickets *tickets = tls_tickets_create(0);
    struct tls_pem pem;
    struct tls_certificate *certificate = make_certificate(&pem);
    struct bytes authority = {pem.text, pem.len};

    CHECK(tickets);
    add_hosts(open_hosts, &sites[OPEN]);
    add_hosts(closed_hosts, &sites[CLOSED]);
    for (int i = 0; i < SITES; i++) {
        tables[i] = tls_table_create(TLS_PROFILE_INTERMEDIATE, tickets);
        CHECK(tables[i]);
        add_set(tables[i], i, certificate, authority);
        add_set(tables[i], SITES - 1 - i, certificate, authority);
    }
    tls_certificate_release(&certificate);
    tls_tickets_release(&tickets);
    tls_pem_fini(&pem);
}

/* --- Names --------------------------------------------------------------- */

static void check_extension(struct bytes extension)
{
    struct bytes name = tls_name_read_extension(extension);

    if (name.len == 0)
        return;
    CHECK(extension.len == EXTENSION_HEAD + name.len);
    CHECK(name.data == extension.data + EXTENSION_HEAD);
    CHECK(name.len <= TLS_NAME_MAX);
    CHECK(tls_table_find(tables[OPEN], name));
}

/* What has been made comparable is compared with itself alone. */
static void check_normal(struct bytes host)
{
    char text[TLS_NAME_MAX + 1], again[TLS_NAME_MAX + 1];
    struct bytes name = tls_name_normalise(host, text);
    struct bytes other;

    CHECK(name.len <= TLS_NAME_MAX);
    if (name.len == 0 || name.data[name.len - 1] == '.')
        return; /* of several dots at the end one goes each time */
    other = tls_name_normalise(name, again);
    CHECK(bytes_eq(name, other));
}

static void check_host(struct bytes host)
{
    const int *found = hosts_find(&hosts, host);

    check_normal(host);
    for (int i = 0; i < SITES; i++) {
        const int *site = found ? found : &sites[i];
        const struct tls_set *other = tls_table_find(tables[i],
                                                     BYTES("open.example"));

        CHECK(!tls_set_asks(other));
        if (site != &sites[CLOSED])
            continue;
        CHECK(!tls_table_serves(tables[i], other, host));
        CHECK(!tls_table_serves(tables[i], NULL, host));
    }
}

/* Only what a request may say. */
static void check_field(struct bytes value)
{
    static struct field few[REQUEST_FIELDS_FEW];
    static struct field many[REQUEST_FIELDS_MAX];
    struct request request = {.fields = few, .many = many};
    struct http1_progress progress = {0};
    char head[VALUE_MAX + 64];
    enum reason reason;
    size_t used;
    int len;

    if (value.len > VALUE_MAX ||
        (value.len > 0 && memchr(value.data, '\0', value.len)))
        return;
    len = snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: %.*s\r\n\r\n",
                   (int)value.len, value.data);
    if (http1_parse(&progress, head, (size_t)len, &request, &used, &reason) ==
        HTTP1_DONE)
        check_host(request.host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy;

    if (!tables[0])
        make_tables();
    if (size == 0)
        return 0;
    copy = copy_of((const char *)data + 1, size - 1);
    if (data[0] % 2 == 0)
        check_extension((struct bytes){copy, size - 1});
    else
        check_field((struct bytes){copy, size - 1});
    free(copy);
    return 0;
}
