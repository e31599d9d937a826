#include "config/config_parser.h"

#include "config/config_text.h"
#include "config/config_unknown.h"

struct parser {
    struct config_text text;        /* the file being read */
    struct config_section *section; /* the open section */
    struct config_source source;
    struct arena *arena;
    struct faults *faults;
    size_t room; /* bytes left for strings with escapes */
};

static struct config_token take(struct parser *parser)
{
    return config_text_take(&parser->text);
}

static const struct config_token *peek(const struct parser *parser)
{
    return &parser->text.next[0];
}

static void tell_no_memory(const struct parser *parser)
{
    faults_add(parser->faults, 0, "out of memory");
}

/* --- Skipping errors ------------------------------------------------------ */

/* Skips the rest of a block, whose '{' was taken, and its '}'. If the block is
 * another server's, the words that begin its lines are reported. */
static void pass_block(struct parser *parser, bool is_foreign, int line)
{
    size_t depth = 1;

    while (depth > 0) {
        struct config_token token = take(parser);

        if (token.kind == CONFIG_END)
            return;
        depth += token.kind == CONFIG_OPEN;
        depth -= token.kind == CONFIG_CLOSE;
        if (is_foreign && token.kind == CONFIG_STRING && token.line != line)
            config_tell_foreign(parser->faults, parser->section, &token);
        line = token.line;
    }
}

/* Skips the value, list or block of a key that is not read. */
static void pass_statement(struct parser *parser, int line)
{
    if (peek(parser)->kind == CONFIG_EQUALS)
        take(parser);
    if (peek(parser)->kind == CONFIG_STRING && peek(parser)->line == line)
        take(parser);
    if (peek(parser)->kind == CONFIG_OPEN) {
        take(parser);
        pass_block(parser, false, line);
    }
}

/* Skips the rest of another server's statement on this line, with its block. */
static void pass_foreign(struct parser *parser, int line)
{
    while (peek(parser)->kind != CONFIG_END &&
           peek(parser)->kind != CONFIG_CLOSE && peek(parser)->line == line) {
        if (take(parser).kind == CONFIG_OPEN) {
            pass_block(parser, true, line);
            return;
        }
    }
}

static void pass_unknown(struct parser *parser, const struct config_token *key)
{
    if (config_tell_unknown(parser->faults, parser->section, key, peek(parser)))
        pass_foreign(parser, key->line);
    else
        pass_statement(parser, key->line);
}

/* Reports and skips a token where a key should be. */
static void pass_misplaced(struct parser *parser,
                           const struct config_token *token)
{
    if (token->kind == CONFIG_CLOSE)
        config_fault(parser->faults, parser->section, token->line,
                     "this '}' closes nothing");
    else
        config_fault(parser->faults, parser->section, token->line,
                     "'%c' where a key should be", *token->written.data);
    if (token->kind == CONFIG_OPEN)
        pass_block(parser, false, token->line);
}

/* --- Keys ----------------------------------------------------------------- */

/* Adds a value to a key; an invalid one is left out. */
static void add_value(struct parser *parser, struct config_key *key,
                      const struct config_token *token)
{
    const char *text;

    if (token->is_bad)
        return;
    text = arena_text(parser->arena, token->value);
    if (!text || !texts_add(&key->values, parser->arena, text))
        tell_no_memory(parser);
}

/* Reads the rest of a list, whose '{' was taken, and its '}'. Returns false if
 * the list is faulty. */
static bool read_list(struct parser *parser, struct config_key *key)
{
    const struct config_token *next = parser->text.next;
    struct config_token token;
    size_t count = 0;

    while ((token = take(parser)).kind != CONFIG_CLOSE) {
        if (token.kind != CONFIG_STRING ||
            (next[0].kind != CONFIG_COMMA && next[0].kind != CONFIG_CLOSE)) {
            config_fault(parser->faults, parser->section, token.line,
                         "key '%s': ',' or '}' is missing in its list",
                         key->name);
            if (token.kind == CONFIG_OPEN)
                pass_block(parser, false, token.line);
            /* If a key follows, only the '}' was forgotten, and nothing is
             * skipped. */
            if (next[0].kind != CONFIG_STRING || next[1].kind != CONFIG_EQUALS)
                pass_block(parser, false, token.line);
            return false;
        }
        if (count++ < CONFIG_LIST_MAX)
            add_value(parser, key, &token);
        if (next[0].kind == CONFIG_COMMA)
            take(parser);
    }
    if (count > CONFIG_LIST_MAX)
        config_fault(parser->faults, parser->section, token.line,
                     "key '%s' has %zu values; at most %d are taken", key->name,
                     count, CONFIG_LIST_MAX);
    return count <= CONFIG_LIST_MAX;
}

static bool all_are(struct bytes text, bool (*is_one)(char c))
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_one(text.data[i]))
            return false;
    return text.len > 0;
}

static bool is_letter(char c)
{
    char lower = byte_lower(c);

    return lower >= 'a' && lower <= 'z';
}

/* Whether a number is followed by its unit, such as "s", as a separate word at
 * the end of the line. If so, reports this and skips the unit. */
static bool pass_unit(struct parser *parser, const struct config_key *key,
                      const struct config_token *number)
{
    const struct config_token *next = parser->text.next;
    struct config_token unit = next[0];

    if (unit.kind != CONFIG_STRING || unit.line != number->line ||
        next[1].kind == CONFIG_EQUALS || next[1].kind == CONFIG_OPEN ||
        (next[1].kind == CONFIG_STRING && next[1].line == unit.line) ||
        !all_are(number->written, byte_is_digit) ||
        !all_are(unit.written, is_letter))
        return false;
    config_fault(parser->faults, parser->section, number->line,
                 "key '%s': '%.*s %.*s': a number and its unit are one word, "
                 "such as 60s, 2m or 64M",
                 key->name, CONFIG_SHOWN(number->written),
                 CONFIG_SHOWN(unit.written));
    take(parser);
    return true;
}

/* Reads what follows a key: '=' and its value. Returns false if the value is
 * faulty. */
static bool read_value(struct parser *parser, struct config_key *key)
{
    struct config_token token;

    if (peek(parser)->kind != CONFIG_EQUALS) {
        config_fault(parser->faults, parser->section, key->line,
                     "key '%s': '=' is missing behind it", key->name);
        pass_statement(parser, key->line);
        return false;
    }
    take(parser);
    if (peek(parser)->kind != CONFIG_STRING &&
        peek(parser)->kind != CONFIG_OPEN) {
        config_fault(parser->faults, parser->section, key->line,
                     "key '%s' has no value", key->name);
        return false;
    }
    token = take(parser);
    if (token.kind == CONFIG_STRING) {
        if (pass_unit(parser, key, &token))
            return false;
        add_value(parser, key, &token);
        return true;
    }
    if (!key->row || config_is_list(key->row))
        return read_list(parser, key);
    config_fault(parser->faults, parser->section, key->line,
                 "key '%s' takes one value, not a list", key->name);
    pass_block(parser, false, key->line);
    return false;
}

static const struct config_key *find_key(const struct config_section *section,
                                         const struct option_row *row)
{
    for (size_t i = 0; i < section->key_count; i++)
        if (section->keys[i].row == row)
            return &section->keys[i];
    return NULL;
}

/* Reads the statement that begins with `token`, the name of the option in
 * `row`. The row is NULL for CONFIG_HOSTS. */
static void read_key(struct parser *parser, const struct option_row *row,
                     const struct config_token *token)
{
    struct config_section *section = parser->section;
    const struct config_key *before = find_key(section, row);
    struct config_key key = {.name = row ? row->name : CONFIG_HOSTS,
                             .row = row,
                             .line = token->line};
    struct config_key *keys;
    char position[FAULT_POSITION_MAX + 1];

    if (!read_value(parser, &key))
        return;
    if (before) {
        faults_name_line(parser->faults, before->line, key.line, position);
        config_fault(parser->faults, section, key.line,
                     "key '%s' stands on %s already", key.name, position);
        return;
    }
    keys = arena_grow(parser->arena, section->keys, section->key_count,
                      sizeof(*keys));
    if (keys) {
        section->keys = keys;
        keys[section->key_count++] = key;
    } else {
        tell_no_memory(parser);
    }
}

/* --- Sections ------------------------------------------------------------- */

/* Returns what is wrong with a new section of that kind and title inside the
 * section `above`; NULL if nothing is. */
static const char *judge_title(const struct config_section *above,
                               enum config_section_kind kind,
                               struct bytes title)
{
    size_t count = 0;

    if (title.len == 0)
        return "has an empty name";
    if (memchr(title.data, '\\', title.len) ||
        memmem(title.data, title.len, "${", 2))
        return "has a '\\' or '${' in its name";
    for (const struct config_section *other = above->first; other;
         other = other->next) {
        if (other->kind != kind)
            continue;
        count++;
        if (bytes_eq(other->title, title))
            return "is there already";
    }
    if (count ==
        (kind == CONFIG_SITE ? CONFIG_SITES_MAX : CONFIG_LOCATIONS_MAX))
        return "is one too many";
    if (above->first && above->first->kind != kind)
        return kind == CONFIG_SITE
                   ? "and locations are at the top: where there are sites, "
                     "locations stand in them"
                   : "and a site are at the top: where there are sites, "
                     "locations stand in them";
    return NULL;
}

/* Opens a new section, to which the following statements belong. Returns false
 * if there is no memory. */
static bool enter_section(struct parser *parser, enum config_section_kind kind,
                          struct bytes title, int line)
{
    struct config_section *above = parser->section;
    struct config_section *section = arena_take(parser->arena,
                                                sizeof(*section));
    const char *kept = arena_text(parser->arena, title);

    if (!section || !kept) {
        tell_no_memory(parser);
        return false;
    }
    *section = (struct config_section){
        .kind = kind, .title = {kept, title.len}, .line = line, .above = above};
    if (above->last)
        above->last->next = section;
    else
        above->first = section;
    above->last = section;
    above->count++;
    parser->section = section;
    return true;
}

/* Reads what follows the word that begins a section: its title and '{'. */
static void open_section(struct parser *parser, enum config_section_kind kind,
                         int line)
{
    const char *word = kind == CONFIG_SITE ? "site" : "location";
    struct bytes title;
    const char *why;

    if (peek(parser)->kind != CONFIG_STRING ||
        parser->text.next[1].kind != CONFIG_OPEN) {
        config_fault(parser->faults, parser->section, line,
                     "a %s is written so: %s { ... }", word,
                     kind == CONFIG_SITE
                         ? "site \"name\""
                         : "location \"/path\" or location \"= /path\"");
        pass_statement(parser, line);
        return;
    }
    title = take(parser).written;
    take(parser);
    why = judge_title(parser->section, kind, title);
    if (why)
        config_fault(parser->faults, parser->section, line, "%s \"%.*s\" %s",
                     word, CONFIG_SHOWN(title), why);
    if (why || !enter_section(parser, kind, title, line))
        pass_block(parser, false, line);
}

/* --- Statements ----------------------------------------------------------- */

/* Returns the kind of section that the word opens; CONFIG_TOP if it opens
 * none. */
static enum config_section_kind find_kind(struct bytes name)
{
    return bytes_eq(name, BYTES("site"))       ? CONFIG_SITE
           : bytes_eq(name, BYTES("location")) ? CONFIG_LOCATION
                                               : CONFIG_TOP;
}

static void read_statement(struct parser *parser,
                           const struct config_token *key)
{
    struct config_section *section = parser->section;
    enum config_section_kind kind = find_kind(key->written);
    const struct option_row *row = option_find(key->written);

    if (key->is_bad) {
        pass_statement(parser, key->line);
    } else if (kind > section->kind) {
        open_section(parser, kind, key->line);
    } else if (kind != CONFIG_TOP) {
        config_fault(parser->faults, section, key->line,
                     kind == CONFIG_SITE
                         ? "a site belongs at the top"
                         : "a location belongs in a site, or at the top");
        pass_statement(parser, key->line);
    } else if ((row && config_takes(section->kind, row)) ||
               (section->kind == CONFIG_SITE &&
                bytes_eq(key->written, BYTES(CONFIG_HOSTS)))) {
        read_key(parser, row, key);
    } else if (bytes_eq(key->written, BYTES(CONFIG_INCLUDE)) &&
               peek(parser)->kind == CONFIG_STRING &&
               peek(parser)->line == key->line) {
        struct config_token pattern = take(parser);

        if (!pattern.is_bad)
            config_source_include(&parser->source, pattern.written, key->line);
    } else {
        pass_unknown(parser, key);
    }
}

/* Reads a file whose statements belong to the open section. Sections that the
 * file opens must be closed in it. */
static void on_file(void *context, struct bytes bytes, int line)
{
    struct parser *parser = context;
    struct config_text outer = parser->text;
    struct config_section *section = parser->section;
    struct config_token token;

    config_text_open(&parser->text, bytes, line, parser->arena, &parser->room,
                     parser->faults);
    while ((token = take(parser)).kind != CONFIG_END) {
        if (token.kind == CONFIG_CLOSE && parser->section != section)
            parser->section = parser->section->above;
        else if (token.kind == CONFIG_STRING)
            read_statement(parser, &token);
        else
            pass_misplaced(parser, &token);
    }
    for (; parser->section != section; parser->section = parser->section->above)
        config_fault(parser->faults, parser->section, parser->section->line,
                     config_line_file(line) == 0
                         ? "its '}' is missing"
                         : "what is opened here is not closed in this file");
    parser->text = outer;
}

struct config_section *config_parse(struct bytes text, const char *folder,
                                    struct options *options,
                                    struct arena *arena, struct faults *faults)
{
    struct config_section *top = arena_take(arena, sizeof(*top));
    struct parser parser = {.section = top,
                            .arena = arena,
                            .faults = faults,
                            .room = CONFIG_MADE_BYTES_MAX};

    if (!top)
        return NULL;
    *top = (struct config_section){.kind = CONFIG_TOP, .title = BYTES("")};
    parser.source = (struct config_source){.options = options,
                                           .folder = folder,
                                           .faults = faults,
                                           .on_file = on_file,
                                           .context = &parser};
    config_source_read(&parser.source, text);
    return top;
}
