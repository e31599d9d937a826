/* Certificates of an authority, Pebble, from the first to the renewed. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "acme_pebble.h"
#include "child.h"

static bool is_trusted(const char *root)
{
    return eventually(acme_is_trusted(&place, "sprintd.example.net", root),
                      20000);
}

TEST(naming_a_site_is_enough)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES,
                                       "--sandbox", "strict");
    struct outcome outcome;
    struct stat st;

    assert_true(is_trusted(root));
    assert_true(acme_is_trusted(&place, "www.sprintd.example.net", root));
    assert_int_equal(stat(acme_live(), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(printed("%s/acme", acme_folder()), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(acme_count_files(printed("%s/acme/live/challenge",
                                              acme_folder())),
                     0);
    /* Who comes by http is sent to https. */
    assert_int_equal(
        system(printed("curl -sS --noproxy '*' -o /dev/null -w "
                       "'%%{http_code}' http://127.0.0.1:%u/ | grep -q 308",
                       place.http)),
        0);
    assert_int_equal(acme_run(&place, "status", NULL, &outcome), 0);
    assert_non_null(strstr(outcome.out, "www.sprintd.example.net (site *): "
                                        "good"));
    assert_non_null(strstr(outcome.out, "Pebble"));
    server_stop(server);
}

/* The minutes of "next: 2026-01-02 03:04:05Z (...)" and of the number agree. */
static bool is_same_time(const char *told, const char *json)
{
    const char *next = strstr(told, "next:  ");
    const char *number = strstr(json, "\"next_try\":");
    struct tm tm = {0};
    int64_t apart_s;

    assert_non_null(next);
    assert_non_null(number);
    assert_non_null(strptime(next + 7, "%Y-%m-%d %H:%M:%S", &tm));
    apart_s = strtoll(number + 11, NULL, 10) - (int64_t)timegm(&tm);
    return apart_s >= -60 && apart_s <= 60;
}

/* The authority's window, which is asked for later, changes it for both. */
static bool is_same_for_all(struct outcome *outcome)
{
    return acme_run(&place, "status", NULL, outcome) == 0 &&
           is_same_time(outcome->out, acme_status(&place, "status.json"));
}

TEST(all_who_ask_hear_the_same_of_it)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES,
                                       "--status", "/_s", "--sandbox",
                                       "strict");
    struct outcome outcome;

    assert_true(is_trusted(root));
    assert_true(eventually(strstr(acme_status(&place, "status.json"),
                                  "\"next_try\":"),
                           15000));
    assert_true(eventually(is_same_for_all(&outcome), 30000));
    assert_non_null(strstr(acme_status(&place, "status.json"),
                           "sprintd.example.net\",\"issuer\":\"Pebble "));
    assert_non_null(strstr(outcome.out, "issuer: Pebble "));
    assert_non_null(strstr(acme_status(&place, "metrics"),
                           "sprintd_certificate_issuer_info{site=\"*\","
                           "issuer=\"Pebble "));
    assert_null(strstr(acme_status(&place, "metrics"), "certificate_error"));
    server_stop(server);
}

/* The next server has it at once, and asks for nothing. */
TEST(what_is_there_is_kept)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    unsigned orders;

    assert_true(is_trusted(root));
    server_stop(server);
    orders = pebble_count(pebble, "Added order");
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(acme_is_trusted(&place, "sprintd.example.net", root));
    pause_ms(1500);
    assert_int_equal(pebble_count(pebble, "Added order"), orders);
    server_stop(server);
}

/* Without an authority there is a certificate that nobody trusts. */
TEST(it_serves_before_there_is_a_certificate)
{
    struct acme_place away = {.directories = {"https://127.0.0.1:1/dir"},
                              .ca = "/etc/ssl/certs/ca-certificates.crt",
                              .http = free_port(),
                              .https = free_port()};
    struct server *server = ACME_SERVE(&away, "--https", ACME_NAMES, "--status",
                                       "/_s", "--sandbox", "strict");
    struct outcome outcome;

    assert_int_equal(
        system(printed("curl -fsSk --noproxy '*' -m 5 "
                       "https://127.0.0.1:%u/ | grep -q '^certified$'",
                       away.https)),
        0);
    assert_true(eventually(acme_has_said(server, "no certificate for www"),
                           10000));
    assert_int_not_equal(access(acme_live(), F_OK), 0);
    assert_int_not_equal(acme_run(&away, "status", NULL, &outcome), 0);
    assert_non_null(strstr(outcome.out, "none yet"));
    assert_non_null(strstr(outcome.out, "127.0.0.1:1/dir"));
    assert_true(eventually(strstr(acme_status(&away, "metrics"),
                                  "certificate_error_info{site=\"*\",error="
                                  "\"https://127.0.0.1:1/dir"),
                           15000));
    assert_non_null(strstr(acme_status(&away, "status.json"),
                           "\"names\":\"www.sprintd.example.net,"
                           "sprintd.example.net\",\"next_try\":"));
    server_stop(server);
}

/* Asks 200 times a second until the file stop is there. */
static pid_t begin_load(const char *root, const char *stop, const char *asked)
{
    pid_t pid = child_fork();

    if (pid != 0)
        return pid;
    if (freopen(asked, "w", stdout))
        execlp("python3", "python3", "tests/e2e/steady.py",
               printed("%u", place.https), "sprintd.example.net", root, "200",
               stop, (char *)NULL);
    _exit(127);
}

/* The authority wants it back, and the program is started again and sees
 * that. */
static void renew_now(const struct server *server)
{
    pid_t program = 0;

    assert_int_equal(
        system(printed("sed -i -e 's/^window-from .*/window-from 1000/' -e "
                       "'s/^window-until .*/window-until 2000/' '%s'",
                       acme_record())),
        0);
    assert_true(eventually((program = acme_program(server)) > 0, 20000));
    kill(program, SIGKILL);
}

TEST(three_renewals_cost_no_request_of_200_a_second)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    const char *stop = printed("%s/stop", folder());
    const char *asked = printed("%s/asked", folder());
    unsigned count = 0, failed = 1, orders;
    pid_t load;
    uint64_t from_ms;

    assert_true(is_trusted(root));
    orders = pebble_count(pebble, "Added order");
    from_ms = now_ms();
    load = begin_load(root, stop, asked);
    for (unsigned i = 1; i <= 3; i++) {
        renew_now(server);
        assert_true(eventually(acme_count_said(server, "read again, as") > i,
                               30000));
    }
    assert_int_equal(pebble_count(pebble, "Added order"), orders + 3);
    pause_ms(500);
    assert_int_equal(mknod(stop, S_IFREG | 0600, 0), 0);
    waitpid(load, NULL, 0);
    if (sscanf(read_text(asked, NULL), "%u %u", &count, &failed) != 2 ||
        failed > 0)
        flunk("failed: %s", read_text(asked, NULL));
    assert_in_range(count, (now_ms() - from_ms) / 10,
                    (now_ms() - from_ms) / 5 + 1);
    assert_true(acme_is_trusted(&place, "sprintd.example.net", root));
    server_stop(server);
}

TEST(a_name_is_shown_by_tls_too)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES,
                                       "--acme-challenge", "tls-alpn-01",
                                       "--sandbox", "strict");

    assert_true(is_trusted(root));
    assert_int_equal(acme_count_files(printed("%s/acme/live/challenge",
                                              acme_folder())),
                     0);
    server_stop(server);
}

#define BOUND                                                                \
    ",\"externalAccountBindingRequired\":true,\"externalAccountMACKeys\":{"  \
    "\"kid-1\":\"zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDk" \
    "MTQ12W\"}"

TEST(accounts_are_bound_where_that_is_asked)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){
        .configuration = BOUND});
    const char *secret = printed("%s/secret", folder());
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    FILE *to = fopen(secret, "we");

    assert_non_null(to);
    fputs("zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W\n",
          to);
    fclose(to);
    assert_true(eventually(acme_has_said(server, "acme-eab-id"), 10000));
    server_stop(server);
    server = ACME_SERVE(&place, "--https", ACME_NAMES, "--acme-eab-id", "kid-1",
                        "--acme-eab-key", secret, "--sandbox", "strict");
    assert_true(is_trusted(root));
    server_stop(server);
}

TEST(what_is_revoked_is_replaced)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    struct outcome outcome;
    unsigned orders;

    assert_true(is_trusted(root));
    server_stop(server); /* which would get another one by itself */
    orders = pebble_count(pebble, "Added order");
    assert_int_equal(acme_run(&place, "revoke", "nobody.example", &outcome),
                     64);
    assert_int_equal(acme_run(&place, "revoke", "sprintd.example.net=1",
                              &outcome),
                     0);
    assert_non_null(strstr(outcome.out, "revoked"));
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(is_trusted(root));
    assert_int_equal(pebble_count(pebble, "Added order"), orders + 1);
    server_stop(server);
}

/* The answer to the first time was lost. */
TEST(what_is_revoked_already_is_revoked)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    const char *copy = printed("%s/copy.pem", folder());
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    struct outcome outcome;

    assert_true(is_trusted(root));
    server_stop(server);
    assert_int_equal(system(printed("cp -p '%s' '%s'", acme_live(), copy)), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(acme_run(&place, "revoke", "sprintd.example.net",
                                  &outcome),
                         0);
        assert_non_null(strstr(outcome.out, "revoked"));
        assert_int_not_equal(access(acme_live(), F_OK), 0);
        assert_int_equal(system(printed("cp -p '%s' '%s'", copy, acme_live())),
                         0);
    }
}

/* As the certificate's key shows whose it is. */
TEST(what_another_account_ordered_can_be_revoked)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    struct outcome outcome;

    assert_true(is_trusted(root));
    server_stop(server);
    assert_int_equal(acme_run(&place, "deactivate", NULL, &outcome), 0);
    assert_int_equal(acme_run(&place, "revoke", "sprintd.example.net",
                              &outcome),
                     0);
    assert_non_null(strstr(outcome.out, "revoked"));
    assert_int_not_equal(access(acme_live(), F_OK), 0);
}

TEST(accounts_get_other_keys_and_are_closed)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    struct outcome outcome;

    assert_true(is_trusted(root));
    server_stop(server);
    assert_int_equal(acme_run(&place, "rollover", NULL, &outcome), 0);
    assert_non_null(strstr(outcome.out, "another key"));
    assert_int_equal(acme_run(&place, "rollover", NULL, &outcome), 0);
    assert_int_equal(acme_run(&place, "deactivate", NULL, &outcome), 0);
    assert_int_equal(acme_run(&place, "deactivate", NULL, &outcome), 0);
    assert_string_equal(outcome.out, "");
}

/* For all names below one, by a record that a command puts. */
TEST(all_names_below_one_are_shown_by_dns)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    const char *log = printed("%s/records", folder());
    /* It has no part in what is between the server and sprintd-acme. */
    const char *command = printed(
        "echo $ACTION $NAME$(ls -l /proc/$$/fd | grep socket) "
        "$SPRINTD_ACME_NEWS >>'%s'; [ $ACTION = remove ] || curl -fsS "
        "--noproxy '*' -d '{\"host\":\"'$NAME'.\",\"value\":\"'$VALUE'\"}' "
        "http://127.0.0.1:%u/set-txt",
        log, pebble->dns_management);
    struct server *server = ACME_SERVE(&place, "--https",
                                       "*.sprintd.example.net",
                                       "--acme-challenge", "dns-01",
                                       "--acme-dns-command", command,
                                       "--sandbox", "strict");

    assert_true(eventually(acme_is_trusted(&place, "any.sprintd.example.net",
                                           root),
                           20000));
    assert_string_equal(read_text(log, NULL),
                        "add _acme-challenge.sprintd.example.net\n"
                        "remove _acme-challenge.sprintd.example.net\n");
    server_stop(server);
}

/* What is logged is what has to stand in the zone. */
TEST(a_record_that_stays_shows_it_too)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){
        .configuration = ",\"caaIdentities\":[\"pebble.example\"],"
                         "\"dnsPersist01IssuerDomainNames\":"
                         "[\"pebble.example\"]"});
    struct server *server = ACME_SERVE(&place, "--https",
                                       "*.sprintd.example.net",
                                       "--acme-challenge", "dns-persist-01");
    const char *said, *end;

    if (!eventually(acme_has_said(server, "has to be there") ||
                        acme_has_said(server, "does not offer"),
                    15000) ||
        acme_has_said(server, "does not offer")) {
        print_message("skipped: this pebble has no dns-persist-01\n");
        server_stop(server);
        skip();
    }
    said = strstr(read_text(server->errors, NULL), "IN TXT \"") + 8;
    end = strchr(said, '"');
    assert_non_null(end);
    assert_int_equal(
        system(printed("curl -fsS --noproxy '*' -d '{\"host\":"
                       "\"_validation-persist.sprintd.example.net.\","
                       "\"value\":\"%.*s\"}' http://127.0.0.1:%u/set-txt",
                       (int)(end - said), said, pebble->dns_management)),
        0);
    assert_true(eventually(acme_is_trusted(&place, "any.sprintd.example.net",
                                           root),
                           20000));
    server_stop(server);
}

SUITE(.begin = acme_begin, .end = harness_end, .each_end = acme_pebble_after);
