/*
 * manual - prints sprintd(8) and sprintd.conf(5), made from the table of
 * options.
 *
 * Thread: the main thread of a program that runs when sprintd is built.
 * Owns:   nothing.
 */
#ifndef TOOLS_MANUAL_H
#define TOOLS_MANUAL_H

#include <stdio.h>

/* Both functions print a page of the manual in the format of man(7). */
void manual_print_program(FILE *to);
void manual_print_file(FILE *to);

#endif
