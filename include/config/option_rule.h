/*
 * option_rule - what a text must look like to be the value of an option that
 * is more than any text: a rule, a field, a pattern.
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_OPTION_RULE_H
#define CONFIG_OPTION_RULE_H

#include "config/option_table.h"

/* NULL, or what is wrong with text, as words to put behind it. Options that
 * take any text find nothing wrong. */
const char *option_rule_check(const struct option_row *row, struct bytes text);

#endif
