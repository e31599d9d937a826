/*
 * worker_client - a client whose connection a worker has been given.
 *
 * Thread: the test's; the worker runs in its own.
 */
#ifndef UNIT_WORKER_CLIENT_H
#define UNIT_WORKER_CLIENT_H

#include "engine/worker.h"

/* The client's end of a connection that this worker has: the caller closes
 * it. */
int worker_client_connect(struct worker *worker);

#endif
