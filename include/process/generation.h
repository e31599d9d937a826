/*
 * generation - one configuration in force: the options, the opened roots, and
 * the contents of files of passwords and tokens.
 *
 * A reload (SIGHUP) makes a new generation. The old generation stays until the
 * last answer that was begun under it has ended.
 *
 * Thread: made by the main thread; any thread may hold and release a
 *         generation.
 * Owns:   the options with their arena, the roots' descriptors, and the tokens.
 */
#ifndef PROCESS_GENERATION_H
#define PROCESS_GENERATION_H

#include <stdio.h>

#include "config/options.h"
#include "config/proxies.h"
#include "engine/worker.h"
#include "process/certificates/credentials.h"

struct generation; /* opaque; counted */

/* Takes over the contents of *options, which is then empty, and opens all that
 * the options name. `before` is the generation in force, or NULL at the start.
 * The new generation takes over the state of upstream servers from `before`. It
 * also takes over those tokens that can no longer be read, since rights were
 * given up. Returns the caller's reference. Returns NULL after writing one line
 * to `errors`; *status_out is then a status of sysexits.h. */
MUST_USE struct generation *generation_create(struct options *options,
                                              const struct generation *before,
                                              FILE *errors, int *status_out);
void generation_hold(struct generation *generation);
void generation_release(struct generation *generation);

/* Whether a location compresses, so that workers need a compressor. */
bool generation_compresses(const struct generation *generation);

/* Whether there are passwords, so that workers need a password_check. */
bool generation_has_passwords(const struct generation *generation);

const struct options *generation_options(const struct generation *generation);
const struct proxies *generation_proxies(const struct generation *generation);

/* Returns the credentials for clients that speak TLS. Only the main thread may
 * call this function. */
struct credentials *generation_credentials(struct generation *generation);

/* Sets the port of https-redirect. To be called before workers serve the
 * generation. */
void generation_lead_to(struct generation *generation, uint16_t https_port);

/* Returns the service for workers. The caller acquires a reference to the
 * generation for each worker; the worker releases the reference. */
struct worker_service generation_service(struct generation *generation,
                                         const struct mime *mime,
                                         size_t connections_max,
                                         size_t descriptors_max);

#endif
