#include "config/option_table_priv.h"

#include <stdlib.h>

#include "base/evict.h"

const struct option_choice option_on_off[] = {{"on", 1}, {"off", 0}, {0}};
const struct option_choice option_off[] = {{"off", 0}, {0}};
const struct option_choice option_cache_policies[] = {
    {"lru", EVICT_LRU}, {"gdsf", EVICT_GDSF}, {"sieve", EVICT_SIEVE}, {0}};

/* The groups of options, in the order of --help. */
static const struct option_group *const groups[] = {
    &start_options, &tls_options,    &work_options,
    &file_options,  &answer_options, &limit_options,
    &kv_options,    &proxy_options,  &service_options,
};

enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

size_t option_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < GROUPS; i++)
        count += groups[i]->count;
    return count;
}

const struct option_row *option_row(size_t number)
{
    for (size_t i = 0; i < GROUPS; number -= groups[i++]->count)
        if (number < groups[i]->count)
            return &groups[i]->rows[number];
    abort(); /* `number` is too large */
}

size_t option_number(const struct option_row *row)
{
    size_t number = 0;

    for (size_t i = 0; i < GROUPS; i++) {
        const struct option_group *group = groups[i];

        for (size_t k = 0; k < group->count; k++, number++)
            if (&group->rows[k] == row)
                return number;
    }
    abort(); /* `row` is not in the table */
}

const struct option_row *option_find(struct bytes name)
{
    for (size_t i = 0; i < GROUPS; i++) {
        const struct option_group *group = groups[i];

        for (size_t k = 0; k < group->count; k++)
            if (bytes_eq(bytes_of(group->rows[k].name), name))
                return &group->rows[k];
    }
    return NULL;
}

const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value)
{
    while (choices->name && choices->value != value)
        choices++;
    return choices->name ? choices->name : "?";
}

const char *option_schedule_name(const struct options *options)
{
    return option_choice_name(option_schedules, options->schedule);
}

const char *option_policy_name(unsigned policy)
{
    return option_choice_name(option_cache_policies, policy);
}

const char *option_cache_policy_name(const struct options *options)
{
    return option_policy_name((unsigned)options->cache_policy);
}
