#include "unit/says.h"

#include "suite.h"

void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

void assert_has_not(const char *text, const char *part)
{
    const char *at = strstr(text, part);

    if (at)
        fail_msg("'%s' is at byte %td of: %s", part, at - text, text);
}
