/*
 * option_rule - checks the syntax of text values that must be, for example, a
 * rule, a field or a pattern.
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_OPTION_RULE_H
#define CONFIG_OPTION_RULE_H

#include "config/option_table.h"

/* Returns NULL if `text` is a valid value of the option, else an error message
 * to append to `text`. Options without a rule accept any text. */
const char *option_rule_check(const struct option_row *row, struct bytes text);

#endif
