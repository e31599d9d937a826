/*
 * tls_command - `sprintd tls`: whether this machine trusts the authority that
 * --https signs with.
 *
 *   sprintd tls show [FOLDER]               which it is, and how to trust it
 *   sprintd tls trust [FOLDER [OWNER]]      programs and browsers of this
 *                                           machine do
 *   sprintd tls untrust                     and do not any longer
 *
 * FOLDER is where the authority lies, that of this user by default; OWNER the
 * user it is of, where that is another. Nothing else in the program makes
 * anybody trust it.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_TLS_COMMAND_H
#define TOOLS_TLS_COMMAND_H

/* The arguments behind `tls`. The exit status: 0, or one of sysexits.h after a
 * line on standard error. */
int tls_command_run(int argc, char **argv);

#endif
