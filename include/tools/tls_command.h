/*
 * tls_command - `sprintd tls`: makes this machine trust the authority of
 * --https.
 *
 *   sprintd tls show [FOLDER]               shows the authority, and how to
 *                                           trust it
 *   sprintd tls trust [FOLDER [OWNER]]      makes this machine's programs
 *                                           and browsers trust it
 *   sprintd tls untrust                     ends this trust
 *
 * FOLDER is the authority's folder, by default this user's. OWNER is the user
 * who owns the folder, if that is another user. Nothing else in the program
 * makes anybody trust the authority.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_TLS_COMMAND_H
#define TOOLS_TLS_COMMAND_H

/* Takes the arguments behind `tls`. Returns the exit status: 0, or one of
 * sysexits.h after a line on standard error. */
int tls_command_run(int argc, char **argv);

#endif
