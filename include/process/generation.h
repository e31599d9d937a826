/*
 * generation - one configuration in force: its options, with the roots they
 * name open, and files of passwords and tokens read.
 *
 * Another may follow while the server runs (SIGHUP); this one stays until the
 * last answer that was begun under it has ended.
 *
 * Thread: made by the main thread; held and released by any.
 * Owns:   its options with their arena, the roots' descriptors, and tokens.
 */
#ifndef PROCESS_GENERATION_H
#define PROCESS_GENERATION_H

#include <stdio.h>

#include "config/options.h"
#include "config/proxies.h"
#include "engine/worker.h"
#include "process/certificates/credentials.h"

struct generation; /* opaque; counted */

/* Takes options over (they are empty then) and opens the roots. One reference,
 * the caller's. NULL: *status_out is one of sysexits.h, after one line on
 * errors. before: the one that was in force, or NULL: what it knows of servers
 * goes on; when rights have been given up since, and tokens cannot be read
 * again, they stay as they were. */
MUST_USE struct generation *generation_create(struct options *options,
                                              const struct generation *before,
                                              FILE *errors, int *status_out);
void generation_hold(struct generation *generation);
void generation_release(struct generation *generation);

/* Whether workers need a compressor. */
bool generation_compresses(const struct generation *generation);

/* Whether workers need a password_check. */
bool generation_has_passwords(const struct generation *generation);

const struct options *generation_options(const struct generation *generation);
const struct proxies *generation_proxies(const struct generation *generation);

/* The credentials that clients which speak TLS are shown; the main thread's. */
struct credentials *generation_credentials(struct generation *generation);

/* Says where https-redirect leads, before workers serve the generation. */
void generation_lead_to(struct generation *generation, uint16_t https_port);

/* What workers are to serve. Each of them holds a reference of its own, which
 * the caller takes before for each. */
struct worker_service generation_service(struct generation *generation,
                                         const struct mime *mime,
                                         size_t connections_max,
                                         size_t descriptors_max);

#endif
