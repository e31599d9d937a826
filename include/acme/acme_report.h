/*
 * acme_report - prints the state of certificates for people.
 *
 * Thread: any; functions wait for the file system.
 */
#ifndef ACME_ACME_REPORT_H
#define ACME_ACME_REPORT_H

#include <stdio.h>

#include "config/options.h"

/* Prints the state of all certificates. Returns the exit status, which is EX_OK
 * if all certificates are good. */
MUST_USE int acme_report_print(const struct options *options, FILE *to);

#endif
