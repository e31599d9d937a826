/*
 * acme_command - the command line of sprintd-acme.
 *
 *   run OPTIONS     obtains and renews the certificates for these options,
 *                   until it is killed
 *   once OPTIONS    does the work that is due, and ends; a timer may run it
 *   status, revoke NAME, rollover, deactivate
 *                   see acme_report.h and acme_errand.h
 *
 * Thread: the program's only thread.
 */
#ifndef ACME_ACME_COMMAND_H
#define ACME_ACME_COMMAND_H

/* Runs the command and returns the exit status. */
int acme_command_run(int argc, char **argv);

#endif
