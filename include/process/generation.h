/*
 * generation - one configuration in force: its options, with their roots
 * opened, and the files of passwords and tokens read.
 *
 * A reload (SIGHUP) makes another; the old one stays until the last answer that
 * was begun under it has ended.
 *
 * Thread: made by the main thread; any thread may hold and release it.
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

/* Takes options over (which are empty then) and opens the roots. Returns the
 * caller's reference, or NULL with a status of sysexits.h in *status_out, after
 * one line on errors. before: the generation in force, or NULL: its knowledge
 * of servers is taken over, and so are tokens that cannot be read again since
 * rights were given up. */
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

/* The credentials for clients that speak TLS; the main thread's. */
struct credentials *generation_credentials(struct generation *generation);

/* Sets the port of https-redirect, before workers serve the generation. */
void generation_lead_to(struct generation *generation, uint16_t https_port);

/* Returns what workers serve. Each worker releases one reference, which the
 * caller acquires for it before. */
struct worker_service generation_service(struct generation *generation,
                                         const struct mime *mime,
                                         size_t connections_max,
                                         size_t descriptors_max);

#endif
