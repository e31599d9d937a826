#include "acme/acme_report.h"

#include <sysexits.h>
#include <time.h>

#include "acme/acme_standing.h"
#include "base/utf8.h"
#include "http/date.h"

enum { DAY_S = 24 * 3600, HOUR_S = 3600 };

static void print_date(FILE *to, const char *label, int64_t seconds,
                       int64_t now_s)
{
    int64_t left_s = seconds > now_s ? seconds - now_s : now_s - seconds;
    char storage[64];
    struct buf date;

    buf_init(&date, storage, sizeof(storage), sizeof(storage));
    date_put_rfc3339(&date, seconds, ' ');
    fprintf(to, "  %s %.*s (%s%lld %s%s)\n", label, (int)date.len, date.data,
            seconds > now_s ? "in " : "",
            (long long)(left_s >= 2 * DAY_S ? left_s / DAY_S : left_s / HOUR_S),
            left_s >= 2 * DAY_S ? "days" : "hours",
            seconds > now_s ? "" : " ago");
}

static bool print_one(FILE *to, const struct acme_state *state,
                      const struct managed_certificate *certificate)
{
    struct acme_standing standing;
    int64_t now_s = time(NULL);

    acme_standing_look(state, certificate, now_s, &standing);
    fprintf(to, "%s (site %s): %s\n", certificate->names.items[0],
            certificate->site,
            standing.is_good        ? "good"
            : standing.ends_at != 0 ? "expired"
                                    : "none yet");
    for (size_t i = 1; i < certificate->names.count; i++)
        fprintf(to, "  also: %s\n", certificate->names.items[i]);
    if (standing.issuer[0] != '\0')
        fprintf(to, "  issuer: %s\n", standing.issuer);
    if (standing.ends_at != 0)
        print_date(to, "ends:  ", standing.ends_at, now_s);
    print_date(to, "next:  ", standing.due_at > now_s ? standing.due_at : now_s,
               now_s);
    utf8_disarm(standing.record.error, strlen(standing.record.error), false);
    if (standing.record.error[0] != '\0')
        fprintf(to, "  failed %u time%s: %s\n", standing.record.failures,
                standing.record.failures == 1 ? "" : "s",
                standing.record.error);
    return standing.is_good;
}

int acme_report_print(const struct options *options, FILE *to)
{
    char fault[ACME_STATE_FAULT_MAX];
    struct acme_state state;
    bool is_good = true;

    if (options->managed_count == 0) {
        fputs("no certificate is got from an authority\n", to);
        return EX_OK;
    }
    if (acme_state_open(&state, options->acme_folder, fault) != 0) {
        fprintf(stderr, "sprintd-acme: %s\n", fault);
        return EX_NOINPUT;
    }
    fprintf(to, "kept in %s\n", options->acme_folder);
    for (size_t i = 0; i < options->managed_count; i++)
        is_good &= print_one(to, &state, &options->managed[i]);
    acme_state_close(&state);
    return is_good ? EX_OK : EX_TEMPFAIL;
}
