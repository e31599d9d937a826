#include "config/config_unknown.h"

#include "config/config_foreign.h"
#include "config/suggest.h"

/* --- Misspelt names ------------------------------------------------------- */

/* Returns the nearest name in any kind of section; NULL if none is near. */
static const char *find_suggestion_anywhere(struct bytes name)
{
    static const char *const others[] = {"site", "location", CONFIG_HOSTS,
                                         CONFIG_INCLUDE};
    struct suggest suggest;

    suggest_init(&suggest, name);
    for (size_t i = 0; i < option_count(); i++)
        if (option_row(i)->scope != OPTION_COMMAND)
            suggest_consider(&suggest, option_row(i)->name);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        suggest_consider(&suggest, others[i]);
    return suggest.found;
}

/* Returns the nearest name in that kind of section, or else in any kind; NULL
 * if none is near. */
static const char *find_suggestion(struct bytes name,
                                   enum config_section_kind kind)
{
    struct suggest suggest;

    suggest_init(&suggest, name);
    for (size_t i = 0; i < option_count(); i++)
        if (config_takes(kind, option_row(i)))
            suggest_consider(&suggest, option_row(i)->name);
    if (kind == CONFIG_TOP)
        suggest_consider(&suggest, "site");
    if (kind == CONFIG_SITE)
        suggest_consider(&suggest, CONFIG_HOSTS);
    if (kind != CONFIG_LOCATION)
        suggest_consider(&suggest, "location");
    return suggest.found ? suggest.found : find_suggestion_anywhere(name);
}

static void tell_name(struct faults *faults,
                      const struct config_section *section, struct bytes name,
                      int line)
{
    const struct option_row *row = option_find(name);
    /* The slow search is skipped if the fault will not be kept. */
    const char *suggest = faults->count < FAULTS_MAX
                              ? find_suggestion(name, section->kind)
                              : NULL;

    if (row && option_is_at_top(row->scope))
        config_fault(faults, section, line,
                     "key '%s' belongs at the top of the file", row->name);
    else if (row && row->scope == OPTION_SITE)
        config_fault(faults, section, line,
                     "key '%s' belongs in a site, or at the top", row->name);
    else if (row && row->scope == OPTION_COMMAND)
        config_fault(faults, section, line, "'%s' is for the command line only",
                     row->name);
    else if (bytes_eq(name, BYTES(CONFIG_HOSTS)))
        config_fault(faults, section, line,
                     "key '" CONFIG_HOSTS "' belongs in a site");
    else if (suggest)
        config_fault(faults, section, line,
                     "key '%.*s' is unknown; did you mean '%s'?",
                     CONFIG_SHOWN(name), suggest);
    else
        config_fault(faults, section, line, "key '%.*s' is unknown",
                     CONFIG_SHOWN(name));
}

/* --- Words of other servers ---------------------------------------------- */

void config_tell_foreign(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key)
{
    struct bytes name = key->written;
    const char *meaning = config_foreign_find(name);

    /* The end of an Apache element is not reported, since its beginning was
     * reported already. */
    if (!meaning ||
        (name.len > 1 && memcmp(name.data, "</", 2) == 0 && faults->count > 0))
        return;
    config_fault(faults, section, key->line,
                 "'%.*s' is %s; see docs/migrate.md", CONFIG_SHOWN(name),
                 meaning);
}

bool config_tell_unknown(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key,
                         const struct config_token *behind)
{
    struct bytes name = key->written;

    if (!option_find(name) && config_foreign_find(name)) {
        config_tell_foreign(faults, section, key);
        return true;
    }
    /* Caddy writes a site as its address, followed by a block. */
    if (section->kind == CONFIG_TOP && behind->kind == CONFIG_OPEN &&
        (memchr(name.data, '.', name.len) ||
         memchr(name.data, ':', name.len))) {
        config_fault(faults, section, key->line,
                     "a site is written so: site \"name\" { hosts = {%.*s} "
                     "... }; see docs/migrate.md",
                     CONFIG_SHOWN(name));
        return true;
    }
    tell_name(faults, section, name, key->line);
    return false;
}
