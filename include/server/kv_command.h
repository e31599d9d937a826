/*
 * kv_command - `sprintd kv`: a store as lines, or as a copy.
 *
 *   sprintd kv export FOLDER        to standard output
 *   sprintd kv import FOLDER        from standard input; no server may have it
 *   sprintd kv backup FOLDER TO     a store of its own
 *
 * A server may have the store that is exported or backed up.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef SERVER_KV_COMMAND_H
#define SERVER_KV_COMMAND_H

/* The arguments behind `kv`. The exit status: 0, or one of sysexits.h after a
 * line on standard error. */
int kv_command_run(int argc, char **argv);

#endif
