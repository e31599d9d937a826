/*
 * acme_pebble - the authority of a test, and the place of the server that gets
 * its certificates of it.
 *
 * Thread: the test's.
 * Owns:   Pebble, which acme_pebble_after() stops.
 */
#ifndef E2E_ACME_PEBBLE_H
#define E2E_ACME_PEBBLE_H

#include "acme.h"

extern struct pebble *pebble;
extern struct acme_place place;

/* Starts Pebble, or skips the test where it is not installed. Returns the root
 * that signs. */
const char *acme_pebble_begin(const struct pebble_options *options);

/* Each test's end. */
int acme_pebble_after(void **state);

#endif
