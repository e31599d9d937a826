/*
 * password_fixture - two clients of password checks that take as long as the
 * test wants: none ends while the gate is closed.
 *
 * Both workers are this thread; the checks' threads are real. Programs with it
 * link with --wrap=htpasswd_check, --wrap=calloc and --wrap=pthread_create.
 */
#ifndef UNIT_AUTH_PASSWORD_FIXTURE_H
#define UNIT_AUTH_PASSWORD_FIXTURE_H

#include <ev.h>

#include "auth/password_client.h"
#include "suite.h"
#include "unit/memory.h"

enum { THREADS = 2, CLIENTS = 2, WAITS = PASSWORD_JOBS + 40 };

#define START_MS UINT64_C(1000000)

struct asking {
    struct password_wait wait;
    unsigned told;
    enum password_verdict verdict;
    void (*then)(struct asking *asking);
};

extern struct ev_loop *loop;
extern struct mailbox *mailboxes[CLIENTS];
extern struct password_check *check;
extern struct password_client *clients[CLIENTS];
extern struct htpasswd *htpasswd;
extern uint64_t now_ms;
extern struct asking askings[WAITS];
extern unsigned begun_before; /* checks, when the test last looked */
extern char last_user[HTPASSWD_NAME_BYTES_MAX + 1]; /* whose check began last */
extern char begun_users[256]; /* of all that began, the first letters */
extern int threads_left;      /* that can be made; -1: all */

int set_up(void **state);
int tear_down(void **state);

/* Lets checks end, or makes them wait. */
void set_gate(bool is_open);

/* How many checks have begun; and waits until so many have. */
unsigned count_begun(void);
void wait_until_begun(unsigned count);

/* Writes the file of passwords anew. */
void write_file(const char *text);

/* Each asks as asking number: ask_from() by a client, from 192.0.2.host,
 * ask_from_site() from 2001:db8:site:subnet::1, ask() from one address. */
enum password_verdict ask_from(size_t client, size_t number, const char *user,
                               const char *password, uint8_t host);
enum password_verdict ask_from_site(size_t number, const char *user,
                                    const char *password, uint8_t site,
                                    uint8_t subnet);
enum password_verdict ask(size_t number, const char *user,
                          const char *password);

/* Runs the loop until that one has been told. */
enum password_verdict wait_for(size_t number);

/* A look at the file may have a job for a moment, which the last of many misses
 * then. */
#define INSIST(asked)                                              \
    do {                                                           \
        enum password_verdict got;                                 \
        int patience = 2000;                                       \
        while ((got = (asked)) == PASSWORD_BUSY && --patience > 0) \
            usleep(1000);                                          \
        assert_int_equal(got, PASSWORD_LATER);                     \
    } while (0)

#endif
