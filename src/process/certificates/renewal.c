#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

#include "base/log.h"
#include "base/units.h"
#include "process/server_priv.h"

enum {
    /* Time between two checks of the files. Changed files are read only if they
     * are the same at the next check, since a renewal may not have written the
     * key yet. So a change is noticed after 10 to 20 s. */
    LOOK_MS = 10000,
    /* Files that could not be read are tried again after this time, since a
     * descriptor or memory may have been lacking. The time doubles after each
     * failure. */
    AGAIN_MS = 60000,
    AGAIN_MAX_MS = 24 * 3600 * MS_PER_S,
    WARN_S = 24 * 3600,
    S_PER_DAY = 24 * 3600
};

/* --- Files that change --------------------------------------------------- */

static void log_text(char *text)
{
    char *line;

    while ((line = strsep(&text, "\n")))
        if (*line != '\0')
            log_error("%s", line);
}

/* Puts new certificates in force. If the workers lack the memory for them, the
 * old certificates stay. */
static void put_in_force(struct server *server, struct certificates *read)
{
    struct credentials *credentials =
        generation_credentials(server->generation);
    struct certificates *other = credentials_replace(credentials, read);

    if (worker_pool_change(server, server->generation) == 0) {
        (void)!worker_pool_await(server); /* busy workers change later */
        log_notice("certificates: read again, as their files have changed");
    } else {
        other = credentials_replace(credentials, other);
        log_error("certificates: no memory: they stay as they were");
    }
    certificates_destroy(other);
}

static void read_again(struct server *server)
{
    struct certificates *read = NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *errors = open_memstream(&text, &len);
    int status = EX_OSERR;

    if (errors)
        status = credentials_read(generation_credentials(server->generation),
                                  &read, errors);
    if (errors && fclose(errors) != 0)
        status = EX_OSERR;
    if (status == EX_OK && read) {
        put_in_force(server, read);
    } else {
        certificates_destroy(read);
        log_text(text);
        log_error("certificates: changed files are at fault: all stays as it "
                  "was");
    }
    free(text);
}

static void note_try(struct renewal *renewal, uint64_t seen, uint64_t now_ms)
{
    if (seen != renewal->tried)
        renewal->pause_ms = AGAIN_MS;
    else if (renewal->pause_ms < AGAIN_MAX_MS / 2)
        renewal->pause_ms *= 2;
    else
        renewal->pause_ms = AGAIN_MAX_MS;
    renewal->tried = seen;
    renewal->again_ms = now_ms + renewal->pause_ms;
}

static void look(struct server *server, const struct certificates *certificates,
                 uint64_t now_ms)
{
    struct renewal *renewal = &server->renewal;
    uint64_t seen = certificates_look(certificates);
    bool is_settled = seen == renewal->seen;

    renewal->seen = seen;
    if (!is_settled || (seen == renewal->tried && now_ms < renewal->again_ms) ||
        !certificates_are_old(certificates))
        return;
    note_try(renewal, seen, now_ms);
    read_again(server);
}

void renewal_take_news(struct server *server)
{
    const struct certificates *certificates =
        generation_credentials(server->generation)->certificates;
    struct renewal *renewal = &server->renewal;

    if (server->shutdown_mode != SERVER_SERVES || !certificates)
        return;
    if (!certificates_are_old(certificates)) {
        credentials_note(generation_credentials(server->generation));
        return;
    }
    renewal->seen = certificates_look(certificates);
    note_try(renewal, renewal->seen, now_read_ns() / NS_PER_MS);
    read_again(server);
}

/* Renews the file of --https when it is due. The renewed file is then noticed
 * and read like any other changed file. */
static void renew_https(struct renewal *renewal,
                        const struct local_https *https, uint64_t now_ms)
{
    uint64_t due_ms = renewal->https_ms +
                      (uint64_t)LOCAL_HTTPS_RENEW_S * MS_PER_S;

    if (!https || (renewal->https_ms != 0 && now_ms < due_ms))
        return;
    /* The first time, nothing is done: the file was renewed at the start. */
    if (renewal->https_ms != 0 && local_https_renew(https, stderr) != EX_OK)
        log_warning("the certificate of --https stays as it is");
    renewal->https_ms = now_ms;
}

/* --- What is told -------------------------------------------------------- */

/* Returns true if an earlier site has the same certificate. The certificate was
 * then reported with that site. */
static bool is_told(const struct certificates *certificates, size_t number,
                    const char *path)
{
    struct certificate_term other;

    for (size_t i = 0; i < number; i++)
        if (certificates_term(certificates, i, &other) && other.path == path)
            return true;
    return false;
}

static void warn(const struct certificates *certificates, int64_t now_s)
{
    struct certificate_term term;

    for (size_t i = 0; certificates_term(certificates, i, &term); i++) {
        int64_t left_s = term.ends_at - now_s;

        if (left_s > CERTIFICATES_WARN_S || is_told(certificates, i, term.path))
            continue;
        if (term.is_placeholder)
            log_warning("site '%s' has no certificate yet: clients are shown "
                        "a placeholder that they do not trust",
                        term.site);
        else if (left_s <= 0)
            log_warning("certificate '%s' of site '%s' has expired", term.path,
                        term.site);
        else
            log_warning("certificate '%s' of site '%s' expires in %lld days",
                        term.path, term.site, (long long)(left_s / S_PER_DAY));
    }
}

static void tell_closed(struct renewal *renewal,
                        const struct certificates *certificates)
{
    const char *path = certificates_find_closed(certificates);

    renewal->has_told = true;
    if (path)
        log_notice("certificates: '%s' cannot be read with the rights that are "
                   "left: when it is renewed, 'sprintd ctl upgrade' starts a "
                   "server that reads it",
                   path);
}

int renewal_tick(struct server *server, uint64_t now_ms)
{
    struct renewal *renewal = &server->renewal;
    struct credentials *credentials =
        generation_credentials(server->generation);
    int64_t now_s = (int64_t)time(NULL);

    if (!credentials->certificates)
        return LOOK_MS;
    if (now_ms < renewal->look_ms)
        return (int)(renewal->look_ms - now_ms);
    renewal->look_ms = now_ms + LOOK_MS;
    (void)tls_tickets_tick(credentials->tickets, (uint64_t)now_s);
    renew_https(renewal, credentials->https, now_ms);
    look(server, credentials->certificates, now_ms);
    credentials_note(credentials);
    if (!renewal->has_told)
        tell_closed(renewal, credentials->certificates);
    /* It is time to warn, or the clock was set back. */
    if (now_s >= renewal->warn_at_s || renewal->warn_at_s - now_s > WARN_S) {
        renewal->warn_at_s = now_s + WARN_S;
        warn(credentials->certificates, now_s);
    }
    return LOOK_MS;
}
