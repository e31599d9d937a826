/*
 * acme_command - what sprintd-acme is told to do.
 *
 *   run OPTIONS     sees to the certificates of a server with these options,
 *                   until it is killed
 *   once OPTIONS    does what is due and ends, for a timer
 *   status, revoke NAME, rollover, deactivate
 *                   what operators want (acme_report.h, acme_errand.h)
 *
 * Thread: the only one.
 */
#ifndef ACME_ACME_COMMAND_H
#define ACME_ACME_COMMAND_H

/* The status to exit with. */
int acme_command_run(int argc, char **argv);

#endif
