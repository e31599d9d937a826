/*
 * cache_tool - `sprintd cache`: what a running server keeps of what it proxies,
 * by its control socket (process/cache_command.h).
 *
 *   sprintd cache purge [--soft] [--tag TAGS] [ADDRESS]
 *   sprintd cache ls [ADDRESS]
 *   sprintd cache stat
 *
 * --control SOCKET before these says which server.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_CACHE_TOOL_H
#define TOOLS_CACHE_TOOL_H

#include <stdio.h>

/* arguments: count words behind "cache". The exit status is that of
 * ctl_run(). */
int cache_tool_run(int count, char **arguments, FILE *out, FILE *errors);

#endif
