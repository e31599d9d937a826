/*
 * trusting - authorities that are to be trusted by a machine of the test's own.
 *
 * Of the system's authorities a copy is changed, in a mount namespace of the
 * test's own: by root only. Each test has a home of its own.
 */
#ifndef E2E_TRUSTING_H
#define E2E_TRUSTING_H

#include "harness.h"

enum { NOBODY = 65534 };

#define TRUSTED_FOLDER "/usr/local/share/ca-certificates"
#define CERTIFICATES "/etc/ssl/certs"

extern char home[128];
extern struct outcome outcome; /* of the last run */

int trusting_begin(void **state);
int trusting_begin_test(void **state);
int trusting_end_test(void **state);

#define TRUSTING_SUITE                                 \
    SUITE(.begin = trusting_begin, .end = harness_end, \
          .each_begin = trusting_begin_test, .each_end = trusting_end_test)

void shell(const char *command);
void run_at_home(const char *command);

/* Hides the certificates of the system, from this process and its children
 * alone. Skips the test where that cannot be done; the second function also
 * where the test is not root's. */
void hide_system(void);
void hide_system_as_root(void);

/* How another user could lead root elsewhere, and how that ends. */
struct steering {
    const char *steer;
    const char *leave;
};

/* An authority in name below the home, as a server makes it. */
const char *make_authority(const char *name);

void assert_says(const char *text, const char *what);
void assert_status(int status);

/* Runs "sprintd tls" with these arguments, and expects that it ends so. */
#define EXPECT(status, ...)                \
    do {                                   \
        RUN(&outcome, "tls", __VA_ARGS__); \
        assert_status(status);             \
    } while (0)

#endif
