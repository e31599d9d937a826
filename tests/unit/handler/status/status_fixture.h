/*
 * status_fixture - a status of two workers' statistics, what it is asked, and
 * memory that can be refused. Needs
 * `link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc`.
 */
#ifndef UNIT_STATUS_FIXTURE_H
#define UNIT_STATUS_FIXTURE_H

#include "json_check.h"
#include "unit/handler/sent.h"
#include "unit/memory.h"
#include "unit/observe/sample_stats.h"

/* --- Memory that runs out ------------------------------------------------ */

/* --- A status of two workers' statistics --------------------------------- */

enum { ANSWER_MAX = 200000 };

extern struct now now;
extern struct stats_shared *stats;
extern struct history *history;
extern const struct cidrs allowed_list;
extern const struct hosts known;
extern struct status *status;
extern struct address peer;

int set_up(void **state);
int tear_down(void **state);

/* --- Asking -------------------------------------------------------------- */

struct whole_answer {
    unsigned status;
    bool persists;
    size_t len; /* of the body */
    char *body;
    char text[ANSWER_MAX];
};

extern struct whole_answer answer;

/* rest is what the router leaves of the path. */
void ask_at(struct exchange *exchange, const char *host, const char *method,
            const char *rest, const char *fields);

void ask(struct exchange *exchange, const char *method, const char *rest,
         const char *fields);

/* The whole of an answer that is no stream. */
unsigned ask_once(const char *method, const char *rest, const char *fields);

unsigned get(const char *rest);
bool has_field(const char *line);
void assert_field(const char *line);
void assert_length(void);
void assert_json(const char *text, size_t len);

#endif
