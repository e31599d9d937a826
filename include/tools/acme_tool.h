/*
 * acme_tool - `sprintd acme`: hands its arguments on to sprintd-acme, the
 * program beside this one.
 *
 * Thread: the only one.
 */
#ifndef TOOLS_ACME_TOOL_H
#define TOOLS_ACME_TOOL_H

/* The status to exit with, when that cannot be started. */
int acme_tool_run(int count, char **arguments);

#endif
