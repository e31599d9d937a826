/*
 * acme_command - the command line of sprintd-acme.
 *
 *   run OPTIONS     gets and renews the certificates for these options,
 *                   until it is killed
 *   once OPTIONS    does what is due and ends, for a timer
 *   status, revoke NAME, rollover, deactivate
 *                   acme_report.h, acme_errand.h
 *
 * Thread: the only one.
 */
#ifndef ACME_ACME_COMMAND_H
#define ACME_ACME_COMMAND_H

/* Runs the command and returns the exit status. */
int acme_command_run(int argc, char **argv);

#endif
