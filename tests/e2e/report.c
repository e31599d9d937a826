#include "report.h"

#include <signal.h>

enum { SOON_MS = 5000 };

#define TITLE "Server Statistic Report"

size_t report_count(const struct server *server)
{
    size_t count = 0;

    for (const char *at = read_text(server->errors, NULL);
         (at = strstr(at, TITLE)); at++)
        count++;
    return count;
}

const char *report_last(const struct server *server)
{
    const char *last = NULL;

    for (const char *at = read_text(server->errors, NULL);
         (at = strstr(at, TITLE)); at++)
        last = at;
    return last;
}

const char *report_ask(const struct server *server)
{
    size_t before = report_count(server);

    server_signal(server, SIGUSR2);
    if (!eventually(report_count(server) > before &&
                        strstr(report_last(server), "overtakes"),
                    SOON_MS))
        flunk("no report");
    return report_last(server);
}

const char *report_find(const char *report, const char *title,
                        const char *label)
{
    const char *part = strstr(report, printed("\n\n%s", title));
    const char *end = part ? strstr(part + 2, "\n\n") : NULL;
    const char *row = part ? strstr(part + 2, printed("\n  %s ", label)) : NULL;

    return row && (!end || row < end) ? row + 3 + strlen(label) : NULL;
}

uint64_t report_number(const char *report, const char *title, const char *label)
{
    const char *row = report_find(report, title, label);

    return row ? strtoull(row, NULL, 10) : 0;
}
