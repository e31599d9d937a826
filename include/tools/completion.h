/*
 * completion - prints shells' completions of sprintd's command line, made from
 * the table of options.
 *
 * Thread: the main thread of a program that runs when sprintd is built.
 * Owns:   nothing.
 */
#ifndef TOOLS_COMPLETION_H
#define TOOLS_COMPLETION_H

#include <stdio.h>

void completion_print_bash(FILE *to);
void completion_print_zsh(FILE *to);

#endif
