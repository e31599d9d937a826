#include "config/option_print.h"

void option_print_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (strchr("\"\\$\n\t", *text))
            fputc('\\', to);
        fputc(*text == '\n' ? 'n' : *text == '\t' ? 't' : *text, to);
    }
    fputc('"', to);
}

/* Prints the number with the largest suffix (K, M, G) that divides it. */
static void print_bytes(FILE *to, unsigned long long bytes)
{
    static const char suffixes[] = "KMG";
    int at = -1;

    while (bytes > 0 && bytes % 1024 == 0 && at < 2) {
        bytes /= 1024;
        at++;
    }
    fprintf(to, "%llu", bytes);
    if (at >= 0)
        fputc(suffixes[at], to);
}

static void print_number(FILE *to, const struct option_row *row,
                         unsigned long long value)
{
    if (row->kind == OPTION_BYTES)
        print_bytes(to, value);
    else if (row->kind == OPTION_TIME && value % 1000 == 0)
        fprintf(to, "%llus", value / 1000);
    else if (row->kind == OPTION_TIME)
        fprintf(to, "%llums", value);
    else if (row->kind == OPTION_RATE && value == OPTIONS_LINK_OFF)
        fputs("off", to);
    else if (row->kind == OPTION_RATE && value == OPTIONS_LINK_AUTO)
        fputs("auto", to);
    else if (row->kind == OPTION_CHOICE ||
             (row->kind == OPTION_NUMBER &&
              (value < row->min || value > row->max)))
        fputs(option_choice_name(row->choices, value), to);
    else
        fprintf(to, "%llu", value);
}

static bool print_texts(FILE *to, const struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        fputs(i == 0 ? "{" : ", ", to);
        option_print_text(to, texts->items[i]);
    }
    if (texts->count > 0)
        fputc('}', to);
    return texts->count > 0;
}

static bool print_cidrs(FILE *to, const struct cidrs *cidrs)
{
    for (size_t i = 0; i < cidrs->count; i++) {
        const struct cidr *cidr = &cidrs->items[i];
        struct address address = {.family = cidr->family};
        char text[ADDRESS_TEXT_MAX];
        size_t len;

        if (cidr->family == CIDR_ALL) {
            fputs(i == 0 ? "{all" : ", all", to);
            continue;
        }
        memcpy(address.octets, cidr->octets, sizeof(address.octets));
        len = address_format(&address, text);
        fprintf(to, "%s\"%.*s/%u\"", i == 0 ? "{" : ", ", (int)len, text,
                (unsigned)cidr->bits);
    }
    if (cidrs->count > 0)
        fputc('}', to);
    return cidrs->count > 0;
}

static bool print_text(FILE *to, struct bytes text)
{
    if (text.len == 0)
        return false;
    fputc('"', to);
    fwrite(text.data, 1, text.len, to);
    fputc('"', to);
    return true;
}

bool option_print(FILE *to, const void *base, const struct option_row *row)
{
    const void *at = (const char *)base + row->offset;
    const char *text;
    uint64_t number;

    switch (row->kind) {
    case OPTION_SWITCH:
        fputs(*(const bool *)at ? "yes" : "no", to);
        return true;
    case OPTION_NUMBER:
    case OPTION_BYTES:
    case OPTION_TIME:
    case OPTION_CHOICE:
    case OPTION_RATE:
        memcpy(&number, at, sizeof(number));
        print_number(to, row, number);
        return true;
    case OPTION_TEXT:
    case OPTION_PATH:
    case OPTION_PROSE:
    case OPTION_FORMAT:
        memcpy(&text, at, sizeof(text));
        if (text)
            option_print_text(to, text);
        return text != NULL;
    case OPTION_PREFIX: /* a prefix needs no escapes */
        return print_text(to, *(const struct bytes *)at);
    case OPTION_TEXTS:
    case OPTION_PATHS:
        return print_texts(to, at);
    case OPTION_CIDRS:
        return print_cidrs(to, at);
    }
    return false;
}
