/*
 * acme_tool - `sprintd acme`: runs sprintd-acme, the program beside this one,
 * with its arguments.
 *
 * Thread: the only one.
 */
#ifndef TOOLS_ACME_TOOL_H
#define TOOLS_ACME_TOOL_H

/* Runs sprintd-acme in place of this program. Returns only if sprintd-acme
 * cannot be started; the result is then the exit status. */
int acme_tool_run(int count, char **arguments);

#endif
