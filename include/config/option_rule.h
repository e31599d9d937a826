/*
 * option_rule - checks the form of text values that must be a rule, a field, a
 * pattern or the like.
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_OPTION_RULE_H
#define CONFIG_OPTION_RULE_H

#include "config/option_table.h"

/* Returns NULL, or what is wrong with text, to be put behind it. For options
 * that take any text it returns NULL. */
const char *option_rule_check(const struct option_row *row, struct bytes text);

#endif
