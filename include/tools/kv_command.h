/*
 * kv_command - `sprintd kv`: exports, imports and copies stores.
 *
 *   sprintd kv export FOLDER [SECONDS]     to standard output
 *   sprintd kv import FOLDER               from standard input; no server may
 *                                          use the store
 *   sprintd kv backup FOLDER TO [SECONDS]  copies to a new store
 *
 * A server may use the store during an export or backup. Export and backup give
 * up when the process that reads the store sends nothing for SECONDS
 * (kv_reader.h).
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_KV_COMMAND_H
#define TOOLS_KV_COMMAND_H

/* Takes the arguments behind `kv`. Returns the exit status: 0, or one of
 * sysexits.h after a line on standard error. */
int kv_command_run(int argc, char **argv);

#endif
