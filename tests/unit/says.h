/*
 * says - whether a part stands in a text that a test got.
 */
#ifndef UNIT_SAYS_H
#define UNIT_SAYS_H

void assert_has(const char *text, const char *part);
void assert_has_not(const char *text, const char *part);

#endif
