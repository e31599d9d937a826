#include "config/config_section.h"

#include <stdarg.h>
#include <stdio.h>

void config_fault(struct faults *faults, const struct config_section *section,
                  int line, const char *format, ...)
{
    char text[FAULT_BYTES_MAX];
    const struct config_section *site = section->kind == CONFIG_LOCATION
                                            ? section->above
                                            : section;
    char words[FAULT_BYTES_MAX] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (site->kind == CONFIG_SITE)
        snprintf(words, sizeof(words),
                 "site \"%.*s\": ", CONFIG_SHOWN(site->title));
    if (section->kind == CONFIG_LOCATION)
        faults_add(faults, line, "%slocation \"%.*s\": %s", words,
                   CONFIG_SHOWN(section->title), text);
    else
        faults_add(faults, line, "%s%s", words, text);
}

bool config_takes(enum config_section_kind kind, const struct option_row *row)
{
    return row->scope == OPTION_LOCATION ||
           (row->scope == OPTION_SITE && kind != CONFIG_LOCATION) ||
           (option_is_at_top(row->scope) && kind == CONFIG_TOP);
}

bool config_is_list(const struct option_row *row)
{
    return row->kind == OPTION_TEXTS || row->kind == OPTION_PATHS ||
           row->kind == OPTION_CIDRS;
}
