/*
 * cache_tool - `sprintd cache`: lists and purges a running server's proxy
 * cache, through its control socket (process/cache_command.h).
 *
 *   sprintd cache purge [--soft] [--tag TAGS] [ADDRESS]
 *   sprintd cache ls [ADDRESS]
 *   sprintd cache stat
 *
 * `--control SOCKET`, in front of these words, chooses the server.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_CACHE_TOOL_H
#define TOOLS_CACHE_TOOL_H

#include <stdio.h>

/* `arguments` are the `count` words behind "cache". Returns an exit status like
 * ctl_run(). */
int cache_tool_run(int count, char **arguments, FILE *out, FILE *errors);

#endif
