/*
 * kv_fixture - a kv over a store in memory, which answers at once or, when
 * is_slow, not before kv_answer().
 */
#ifndef UNIT_KV_FIXTURE_H
#define UNIT_KV_FIXTURE_H

#include "unit/handler/asked.h"

#include "handler/kv/kv.h"
#include "kv/kv_events.h"

enum { FAKE_KEYS_MAX = 3000, FAKE_WAITING_MAX = 16 };

struct fake_record {
    char key[KV_KEY_BYTES_MAX];
    size_t key_len;
    struct kv_value *value;
};

/* The question is asked anew when it is answered; one of them is set. */
struct fake_waiting {
    struct kv_get *get;
    struct kv_page *page;
    struct kv_write *write;
};

extern struct fake_store {
    struct kv_client client;                   /* first: the same address */
    struct fake_record records[FAKE_KEYS_MAX]; /* in order */
    size_t count;
    uint64_t revision;
    bool is_slow;
    bool is_failing; /* all is answered with: */
    enum kv_outcome outcome;
    struct fake_waiting waiting[FAKE_WAITING_MAX];
    size_t waiting_count;
    size_t spared;          /* values that nobody wanted */
    struct kv_watch *watch; /* the last */
    struct kv_events *events;
    size_t pages;
    size_t page_most; /* entries asked for at once */
} fake;

extern struct kv *kv;
extern struct kv_options kv_options;
extern struct kv_memory kv_bodies;
extern struct kv_memory kv_values;
extern struct address kv_peer;
extern unsigned wakes;

/* --- The store ----------------------------------------------------------- */

/* Answers all that waits. */
void kv_answer(void);

/* --- Exchanges ----------------------------------------------------------- */

/* Sends a request up to where it is answered, or waits. body may be NULL; it
 * comes in pieces of step bytes. */
void kv_begin(const char *line, const char *fields, struct bytes body,
              size_t step);

/* All that is sent, chunks and all; the store answers whenever it is asked. */
const char *kv_finish(void);

const char *kv_ask(const char *line, const char *fields, const char *body);

/* The body of a chunked answer, put together. */
const char *kv_unchunk(const char *text);

#define assert_in(text, part)                              \
    do {                                                   \
        const char *text_ = (text);                        \
        if (!strstr(text_, (part)))                        \
            fail_msg("'%s' is not in: %s", (part), text_); \
    } while (0)

#define assert_not_in(text, part)                      \
    do {                                               \
        const char *text_ = (text);                    \
        if (strstr(text_, (part)))                     \
            fail_msg("'%s' is in: %s", (part), text_); \
    } while (0)

/* --- Before and after each test ------------------------------------------ */

void kv_renew(void);
int kv_set_up(void **state);
int kv_tear_down(void **state);

#endif
