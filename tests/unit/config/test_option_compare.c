#include "config/option_compare.h"

#include "unit/config/told.h"

TEST(values_are_compared_by_what_they_say)
{
    static const struct {
        const char *line, *other, *name;
        bool are_equal;
    } cases[] = {
        {"--workers=2", "-w 2", "workers", true},
        {"--workers=2", "--workers=3", "workers", false},
        {"--schedule=fsp", "--schedule=fsp", "schedule", true},
        {"--schedule=fsp", "", "schedule", false},
        {"--profile", "", "profile", false},
        {"--access-log=a", "--access-log=a", "access-log", true},
        {"--access-log=a", "--access-log=b", "access-log", false},
        {"--access-log=a", "", "access-log", false},
        {"", "", "access-log", true},
        {"-l a:1 -l b:2", "-l a:1 -l b:2", "listen", true},
        {"-l a:1 -l b:2", "-l a:1", "listen", false},
        {"-l a:1", "-l a:2", "listen", false},
        {"--status=/a", "--status=/a/", "status", true},
        {"--status=/a", "", "status", false},
        {"--status-allow=::1", "--status-allow=::1/128", "status-allow", true},
        {"--status-allow=::1", "--status-allow=::2", "status-allow", false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct option_row *row = option_find(bytes_of(cases[i].name));
        struct options first;

        read_well(cases[i].line);
        first = options;
        options = (struct options){0};
        read_well(cases[i].other);
        if (option_is_equal(&first, &options, row) != cases[i].are_equal)
            fail_msg("'%s' and '%s'", cases[i].line, cases[i].other);
        options_fini(&first);
    }
}

SUITE(.end = forget_options);
