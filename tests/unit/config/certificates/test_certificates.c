/*
 * certificates and certificate_files: what is read of a configuration, what is
 * wrong with it, and when it is to be read again.
 */
#include "config/certificates/certificates.h"

#include <sys/fsuid.h>
#include <time.h>

#include "base/base64.h"
#include "config/configuration.h"
#include "config/option_table.h"
#include "io/tls/tls_tickets.h"
#include "make_certificate.h"
#include "suite.h"
#include "unit/place.h"

enum { NOBODY = 65534, DAY_S = 86400 };

static struct place place;
static struct options options;
static struct faults faults, warnings;
static struct tls_tickets *tickets;
static struct certificates *certificates;

static int set_up(void **state)
{
    (void)state;
    tickets = tls_tickets_create(0);
    return tickets && place_open(&place) == 0 ? 0 : -1;
}

static void forget(void)
{
    certificates_destroy(certificates);
    certificates = NULL;
    faults_fini(&faults);
    faults_fini(&warnings);
    faults = warnings = (struct faults){0};
}

static int tear_down(void **state)
{
    (void)state;
    forget();
    options_fini(&options);
    options = (struct options){0};
    tls_tickets_release(&tickets);
    return place_close(&place);
}

/* --- Files --------------------------------------------------------------- */

static void write_made(const char *name, const struct made *made,
                       const struct made *key)
{
    char *text = made_text_and_key(made, key);

    assert_int_equal(place_write(&place, name, text), 0);
    free(text);
}

static void make(const char *name, const struct making *making)
{
    struct made made = make_certificate(making);

    write_made(name, &made, &made);
    made_free(&made);
}

static void make_for(const char *name, const char *names)
{
    make(name, &(struct making){.subject = name, .names = names});
}

static void write_keys(const char *name)
{
    char key[TLS_TICKET_KEY_BYTES] = "k";
    char line[112];
    struct buf text;

    buf_init(&text, line, sizeof(line), sizeof(line));
    base64_put(&text, (struct bytes){key, sizeof(key)});
    assert_int_equal(place_write_bytes(&place, name, text.data, text.len), 0);
    assert_int_equal(chmod(place_path(&place, name), 0600), 0);
}

/* --- Reading ------------------------------------------------------------- */

static void configure(const char *text)
{
    char path[PLACE_NAME_MAX + 20];
    char *arguments[] = {(char[]){"sprintd"}, path, NULL};

    assert_int_equal(place_write(&place, "conf", text), 0);
    snprintf(path, sizeof(path), "--config=%s/conf", place.name);
    forget();
    options_fini(&options);
    assert_int_equal(configuration_read(&options, 2, arguments, stderr), 0);
}

static int read_after(const struct certificates *before)
{
    certificates = NULL;
    return certificates_create(&certificates, &options, tickets, before,
                               &faults, &warnings);
}

static int read_with(const char *text)
{
    configure(text);
    return read_after(NULL);
}

static bool is_among(const struct faults *told, const char *part)
{
    for (size_t i = 0; i < told->count; i++)
        if (strstr(told->items[i].text, part))
            return true;
    return false;
}

static void expect_fault(const char *text, const char *part)
{
    assert_int_equal(read_with(text), -EINVAL);
    assert_null(certificates);
    if (faults.count != 1 || !is_among(&faults, part))
        fail_msg("%zu: %s", faults.count, faults.items[0].text);
}

static size_t set_of(const char *host)
{
    return tls_set_number(tls_table_find(certificates_table(certificates),
                                         bytes_of(host)));
}

/* --- What is read -------------------------------------------------------- */

TEST(without_any_there_are_none)
{
    assert_int_equal(read_with("respond = x\n"), 0);
    assert_null(certificates);
}

TEST(the_site_for_unknown_hosts_is_the_first)
{
    make_for("a", "DNS:a.example");
    make_for("b", "DNS:b.example,DNS:*.c.example");
    assert_int_equal(read_with("site a { hosts = {a.example} certificate = a\n"
                               "  respond = a }\n"
                               "site b { certificate = b respond = b }\n"),
                     0);
    assert_int_equal(set_of("nobody.example"), 0);
    assert_int_equal(set_of("b.example"), 0);
    assert_int_equal(set_of("x.c.example"), 0);
    assert_int_equal(set_of("a.example"), 1);
}

TEST(a_name_of_a_certificate_leads_to_no_site_that_asks_for_others)
{
    struct made staff = make_certificate(&(struct making){
        .subject = "staff", .is_authority = true});
    struct made members = make_certificate(&(struct making){
        .subject = "members", .is_authority = true});
    static const char *const hosts[] = {"one.c.example", "x.two.c.example"};
    const struct tls_table *table;
    const struct tls_set *first;

    write_made("staff", &staff, &staff);
    write_made("members", &members, &members);
    made_free(&staff);
    made_free(&members);
    make_for("a", "DNS:a.example,DNS:one.c.example,DNS:*.two.c.example");
    make_for("c", "DNS:*.c.example");
    assert_int_equal(
        read_with("site a { certificate = a client-ca = staff respond = a }\n"
                  "site c { hosts = {\"*.c.example\"} certificate = c\n"
                  "  client-ca = members respond = c }\n"),
        0);
    table = certificates_table(certificates);
    first = tls_table_find(table, BYTES("a.example"));
    assert_int_equal(tls_set_number(first), 0);
    assert_int_equal(set_of("one.c.example"), 1);
    for (size_t i = 0; i < 2; i++)
        if (tls_table_serves(table, first, bytes_of(hosts[i])))
            fail_msg("%s", hosts[i]);
}

TEST(keys_of_other_kinds_stand_side_by_side)
{
    make_for("ec", "DNS:a.example");
    make("rsa", &(struct making){.names = "DNS:a.example",
                                 .subject = "rsa",
                                 .is_rsa = true});
    make_for("other", "DNS:b.example");
    assert_int_equal(read_with("certificate = {ec, rsa, other}\nrespond = x\n"),
                     0);
    assert_int_equal(set_of("a.example"), 0);
    assert_int_equal(set_of("b.example"), 1);
    assert_int_equal(set_of("c.example"), 0);
}

TEST(the_order_of_names_does_not_keep_kinds_apart)
{
    make_for("ec", "DNS:a.example,DNS:b.example");
    make("rsa", &(struct making){.names = "DNS:b.example,DNS:a.example",
                                 .subject = "rsa",
                                 .is_rsa = true});
    make("less", &(struct making){.names = "DNS:b.example",
                                  .subject = "less",
                                  .is_rsa = true});
    make_for("more", "DNS:b.example,DNS:a.example,DNS:c.example");
    assert_int_equal(read_with("certificate = {ec, rsa, less, more}\n"
                               "respond = x\n"),
                     0);
    assert_int_equal(set_of("a.example"), 0);
    assert_int_equal(set_of("c.example"), 2);
}

TEST(keys_of_tickets_go_with_a_certificate_that_comes_by_itself_too)
{
    write_keys("keys");
    assert_int_equal(read_with("https = 0\ntls-ticket-file = keys\n"
                               "respond = x\n"),
                     0);
    assert_null(certificates);
    assert_int_equal(faults.count, 0);
    expect_fault("tls-ticket-file = keys\nrespond = x\n",
                 "tls-ticket-file has no certificate to go with");
}

TEST(what_is_wrong_is_told_with_its_site)
{
    struct made made = make_certificate(&(struct making){.subject = "a"});
    struct made other = make_certificate(&(struct making){.subject = "b"});

    write_made("mixed", &made, &other);
    make_for("a", "DNS:a.example");
    expect_fault("site a { certificate = mixed respond = x }\n", "site \"a\"");
    expect_fault("certificate = {a, a}\ncertificate-key = a\nrespond = x\n",
                 "1 keys for 2 certificates");
    expect_fault("certificate-key = a\nrespond = x\n",
                 "certificate-key has no certificate to go with");
    expect_fault("client-ca = a\nrespond = x\n",
                 "client-ca has no certificate to go with");
    expect_fault("listen = https://127.0.0.1:0\nrespond = x\n",
                 "needs a certificate");
    expect_fault("certificate = missing\nrespond = x\n", "cannot be read");
    made_free(&made);
    made_free(&other);
}

/* --- When it is read again ----------------------------------------------- */

TEST(a_file_that_has_changed_is_known)
{
    uint64_t seen;

    make_for("a", "DNS:a.example");
    assert_int_equal(read_with("certificate = a\nrespond = x\n"), 0);
    assert_false(certificates_are_old(certificates));
    seen = certificates_look(certificates);
    assert_true(seen == certificates_look(certificates));
    assert_int_equal(place_set_time(&place, "a", 1), 0);
    assert_true(certificates_are_old(certificates));
    assert_true(seen != certificates_look(certificates));
    unlink(place_path(&place, "a"));
    assert_false(certificates_are_old(certificates)); /* it will come back */
}

/* As the file system sees us: what root may read a server may not. */
static void become(unsigned uid)
{
    setfsuid(uid);
    assert_int_equal(setfsuid(uid), uid);
}

TEST(what_cannot_be_read_again_stays_as_it_was)
{
    struct certificates *before;
    if (geteuid() != 0)
        skip();
    write_keys("keys");
    make_for("a", "DNS:a.example");
    make_for("ca", NULL);
    for (const char *const *name =
             (const char *const[]){"a", "ca", "keys", NULL};
         *name; name++)
        assert_int_equal(chmod(place_path(&place, *name), 0600), 0);
    assert_int_equal(chmod(place.name, 0755), 0);
    assert_int_equal(read_with("certificate = a\nclient-ca = ca\n"
                               "tls-ticket-file = keys\nrespond = x\n"),
                     0);
    before = certificates;
    become(NOBODY);
    assert_int_equal(read_after(before), 0);
    become(0);
    certificates_destroy(before);
    assert_true(is_among(&warnings, "certificate '"));
    assert_true(is_among(&warnings, "tls-ticket-file '"));
    assert_int_equal(warnings.count, 2);
    assert_int_equal(set_of("a.example"), 0);
    forget();
    become(NOBODY);
    assert_int_equal(read_after(NULL), -EINVAL); /* nothing was before */
    become(0);
}

/* --- What is told -------------------------------------------------------- */

static bool is_told(const char *text, const char *part)
{
    assert_int_equal(read_with(text), 0);
    certificates_check(certificates, time(NULL), &warnings);
    return is_among(&warnings, part);
}

TEST(terms_and_names_and_chains_are_told)
{
    struct made root = make_certificate(&(struct making){.subject = "root",
                                                         .is_authority = true});

    make("old", &(struct making){.subject = "old",
                                 .begins_s = -2 * DAY_S,
                                 .ends_s = -DAY_S});
    make("soon", &(struct making){.subject = "soon",
                                  .begins_s = -DAY_S,
                                  .ends_s = 3 * DAY_S + 60});
    make("early", &(struct making){.subject = "early",
                                   .begins_s = DAY_S,
                                   .ends_s = 9 * DAY_S});
    make("alone", &(struct making){.subject = "alone", .issuer = &root});
    make_for("a", "DNS:a.example");
    assert_true(is_told("certificate = old\nrespond = x\n", "has expired on"));
    assert_true(is_told("certificate = soon\nrespond = x\n", "in 3 days"));
    assert_true(is_told("certificate = early\nrespond = x\n",
                        "does not count before"));
    assert_true(is_told("certificate = alone\nrespond = x\n",
                        "its chain is incomplete"));
    assert_true(is_told("site a { hosts = {a.example, b.example}\n"
                        "  certificate = a respond = x }\n",
                        "host 'b.example' is not among the names"));
    assert_int_equal(warnings.count, 1);
    made_free(&root);
}

TEST(of_several_that_which_ends_first_is_the_term)
{
    struct certificate_term term;

    make("soon", &(struct making){.subject = "soon",
                                  .begins_s = -DAY_S,
                                  .ends_s = 3 * DAY_S});
    make_for("late", NULL);
    assert_int_equal(read_with("certificate = {late, soon}\nrespond = x\n"), 0);
    assert_true(certificates_term(certificates, 0, &term));
    assert_string_equal(term.path, place_path(&place, "soon"));
    assert_string_equal(term.site, "*");
    assert_in_range(term.ends_at, time(NULL) + 2 * DAY_S,
                    time(NULL) + 4 * DAY_S);
    assert_false(certificates_term(certificates, 1, &term));
    assert_false(certificates_term(NULL, 0, &term));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
