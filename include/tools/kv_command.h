/*
 * kv_command - `sprintd kv`: a store as lines, or as a copy.
 *
 *   sprintd kv export FOLDER [SECONDS]     to standard output
 *   sprintd kv import FOLDER               from standard input; no server may
 *                                          have it
 *   sprintd kv backup FOLDER TO [SECONDS]  a store of its own
 *
 * A server may have the store that is exported or backed up. Those are given up
 * when nothing comes of it for so many seconds (kv_reader.h).
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_KV_COMMAND_H
#define TOOLS_KV_COMMAND_H

/* The arguments behind `kv`. The exit status: 0, or one of sysexits.h after a
 * line on standard error. */
int kv_command_run(int argc, char **argv);

#endif
