/*
 * acme_report - how certificates stand, for people.
 *
 * Thread: any; waits for the file system.
 */
#ifndef ACME_ACME_REPORT_H
#define ACME_ACME_REPORT_H

#include <stdio.h>

#include "config/options.h"

/* Prints how all certificates stand. The status to exit with: EX_OK when all
 * are good. */
MUST_USE int acme_report_print(const struct options *options, FILE *to);

#endif
