#include "server/config_outline.h"

#include "server/config_unknown.h"

struct walk {
    struct config_cursor cursor;
    char *text;
    struct arena *arena;
    struct faults *faults;
    bool has_failed; /* for want of memory */
};

/* --- Passing over what is wrong ------------------------------------------- */

static struct config_token next_token(struct walk *walk)
{
    return config_token_next(&walk->cursor);
}

static struct config_token peek(const struct walk *walk)
{
    struct config_cursor cursor = walk->cursor;

    return config_token_next(&cursor);
}

/* Blanks from there to where the walk is. */
static void blank_from(struct walk *walk, const char *from)
{
    config_text_blank(walk->text + (from - walk->text), walk->cursor.at);
}

/* From behind a '{' to behind its '}'. */
static void skip_block(struct walk *walk)
{
    size_t depth = 1;

    while (depth > 0) {
        struct config_token token = next_token(walk);

        if (token.kind == CONFIG_END)
            return;
        depth += token.kind == CONFIG_OPEN;
        depth -= token.kind == CONFIG_CLOSE;
    }
}

/* What follows a key that is not to be read: a value, a list, a block. */
static void skip_statement(struct walk *walk, int line)
{
    struct config_token token = peek(walk);

    if (token.kind == CONFIG_EQUALS) {
        next_token(walk);
        token = peek(walk);
    }
    if (token.kind == CONFIG_STRING && token.line == line) {
        next_token(walk);
        token = peek(walk);
    }
    if (token.kind == CONFIG_OPEN) {
        next_token(walk);
        skip_block(walk);
    }
}

/* From behind a '{' to behind its '}': words of others that begin a line are
 * told of on the way. */
static void pass_foreign_block(struct walk *walk,
                               const struct config_section *section, int line)
{
    size_t depth = 1;

    while (depth > 0) {
        struct config_token token = next_token(walk);

        if (token.kind == CONFIG_END)
            return;
        depth += token.kind == CONFIG_OPEN;
        depth -= token.kind == CONFIG_CLOSE;
        if (token.kind == CONFIG_STRING && token.line != line)
            config_tell_foreign(walk->faults, section, &token);
        line = token.line;
    }
}

/* What another server would read on that line. */
static void pass_foreign(struct walk *walk,
                         const struct config_section *section, int line)
{
    for (;;) {
        struct config_token token = peek(walk);

        if (token.kind == CONFIG_END || token.kind == CONFIG_CLOSE ||
            token.line != line)
            return;
        next_token(walk);
        if (token.kind == CONFIG_OPEN) {
            pass_foreign_block(walk, section, line);
            return;
        }
    }
}

static void pass_unknown(struct walk *walk,
                         const struct config_section *section,
                         const struct config_token *key)
{
    struct config_token behind = peek(walk);

    if (config_tell_unknown(walk->faults, section, key, &behind))
        pass_foreign(walk, section, key->line);
    else
        skip_statement(walk, key->line);
    blank_from(walk, key->text.data);
}

/* --- Keys ----------------------------------------------------------------- */

/* Whether a key follows: then the list before it was meant to end. */
static bool is_before_key(const struct walk *walk)
{
    struct config_cursor cursor = walk->cursor;

    if (config_token_next(&cursor).kind != CONFIG_STRING)
        return false;
    return config_token_next(&cursor).kind == CONFIG_EQUALS;
}

/* From behind the '{' of a list to behind its '}'. False: it has a fault. */
static bool pass_list(struct walk *walk, const struct config_section *section,
                      const char *name)
{
    size_t count = 0;

    for (;;) {
        struct config_token token = next_token(walk);
        struct config_token behind = peek(walk);

        if (token.kind == CONFIG_CLOSE)
            break;
        if (token.kind != CONFIG_STRING ||
            (behind.kind != CONFIG_COMMA && behind.kind != CONFIG_CLOSE)) {
            config_fault(walk->faults, section, token.line,
                         "key '%s': ',' or '}' is missing in its list", name);
            if (token.kind == CONFIG_OPEN)
                skip_block(walk);
            if (!is_before_key(walk))
                skip_block(walk);
            return false;
        }
        count++;
        if (behind.kind == CONFIG_COMMA)
            next_token(walk);
    }
    if (count > CONFIG_LIST_MAX)
        config_fault(walk->faults, section, walk->cursor.line,
                     "key '%s' has %zu values; at most %d are taken", name,
                     count, CONFIG_LIST_MAX);
    return count <= CONFIG_LIST_MAX;
}

/* From behind a key to behind its value. False: it has a fault. */
static bool pass_value(struct walk *walk, const struct config_section *section,
                       const char *name, bool is_list, int line)
{
    struct config_token token = peek(walk);

    if (token.kind != CONFIG_EQUALS) {
        config_fault(walk->faults, section, line,
                     "key '%s': '=' is missing behind it", name);
        skip_statement(walk, line);
        return false;
    }
    next_token(walk);
    token = peek(walk);
    if (token.kind == CONFIG_STRING) {
        next_token(walk);
        return true;
    }
    if (token.kind != CONFIG_OPEN) {
        config_fault(walk->faults, section, line, "key '%s' has no value",
                     name);
        return false;
    }
    next_token(walk);
    if (is_list)
        return pass_list(walk, section, name);
    config_fault(walk->faults, section, line,
                 "key '%s' takes one value, not a list", name);
    skip_block(walk);
    return false;
}

static bool has_key(const struct config_section *section,
                    const struct option_row *row, int *line_out)
{
    for (size_t i = 0; i < section->key_count; i++) {
        if (section->keys[i].row == row) {
            *line_out = section->keys[i].line;
            return true;
        }
    }
    return false;
}

/* Reads the rest of what key begins. row: NULL for hosts. */
static void read_key(struct walk *walk, struct config_section *section,
                     const struct option_row *row,
                     const struct config_token *key)
{
    const char *name = row ? row->name : CONFIG_HOSTS;
    bool is_sound = pass_value(walk, section, name, !row || config_is_list(row),
                               key->line);
    struct config_key *keys;
    char place[FAULT_PLACE_MAX + 1];
    int before;

    if (is_sound && has_key(section, row, &before)) {
        faults_name_line(walk->faults, before, key->line, place);
        config_fault(walk->faults, section, key->line,
                     "key '%s' stands on %s already", name, place);
        is_sound = false;
    }
    if (!is_sound) {
        blank_from(walk, key->text.data);
        return;
    }
    keys = arena_grow(walk->arena, section->keys, section->key_count,
                      sizeof(*keys));
    if (!keys) {
        walk->has_failed = true;
        return;
    }
    section->keys = keys;
    keys[section->key_count++] = (struct config_key){.row = row,
                                                     .line = key->line};
}

/* --- Sections ------------------------------------------------------------- */

/* What is wrong with another section of that title in above; NULL: nothing. */
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

static struct config_section *add_section(struct walk *walk,
                                          struct config_section *above,
                                          enum config_section_kind kind,
                                          struct bytes title, int line)
{
    struct config_section *section = arena_take(walk->arena, sizeof(*section));

    if (!section) {
        walk->has_failed = true;
        return NULL;
    }
    *section = (struct config_section){
        .kind = kind, .title = title, .line = line, .above = above};
    if (above->last)
        above->last->next = section;
    else
        above->first = section;
    above->last = section;
    above->count++;
    return section;
}

/* Reads title and '{' behind the word that begins a section in above, which
 * NULL, a fault and blanks stand for when that cannot be done. */
static struct config_section *open_section(struct walk *walk,
                                           struct config_section *above,
                                           enum config_section_kind kind,
                                           const struct config_token *key)
{
    const char *word = kind == CONFIG_SITE ? "site" : "location";
    struct config_cursor start = walk->cursor;
    struct config_token title = next_token(walk);
    struct bytes name = config_token_inside(&title);
    const char *why;

    if (title.kind != CONFIG_STRING || peek(walk).kind != CONFIG_OPEN) {
        config_fault(walk->faults, above, key->line,
                     "a %s is written so: %s { ... }", word,
                     kind == CONFIG_SITE
                         ? "site \"name\""
                         : "location \"/path\" or location \"= /path\"");
        walk->cursor = start;
        skip_statement(walk, key->line);
        blank_from(walk, key->text.data);
        return NULL;
    }
    next_token(walk);
    why = judge_title(above, kind, name);
    if (!why)
        return add_section(walk, above, kind, name, key->line);
    config_fault(walk->faults, above, key->line, "%s \"%.*s\" %s", word,
                 CONFIG_SHOWN(name), why);
    skip_block(walk);
    blank_from(walk, key->text.data);
    return NULL;
}

static const struct option_row *find_row(const struct config_section *section,
                                         struct bytes name)
{
    const struct option_row *row = option_find(name);

    return row && config_takes(section->kind, row) ? row : NULL;
}

/* Reads what key begins; a section that it opened, or NULL. */
static struct config_section *read_statement(struct walk *walk,
                                             struct config_section *section,
                                             const struct config_token *key)
{
    struct bytes name = config_token_inside(key);
    const struct option_row *row = find_row(section, name);

    if (section->kind == CONFIG_TOP && bytes_eq(name, BYTES("site")))
        return open_section(walk, section, CONFIG_SITE, key);
    if (section->kind != CONFIG_LOCATION && bytes_eq(name, BYTES("location")))
        return open_section(walk, section, CONFIG_LOCATION, key);
    if (row ||
        (section->kind == CONFIG_SITE && bytes_eq(name, BYTES(CONFIG_HOSTS)))) {
        read_key(walk, section, row, key);
        return NULL;
    }
    if (!bytes_eq(name, BYTES("location")) && !bytes_eq(name, BYTES("site")) &&
        *key->text.data != CONFIG_REPLACED) {
        pass_unknown(walk, section, key);
        return NULL;
    }
    if (*key->text.data != CONFIG_REPLACED)
        config_fault(walk->faults, section, key->line,
                     *name.data == 's'
                         ? "a site belongs at the top"
                         : "a location belongs in a site, or at the top");
    skip_statement(walk, key->line);
    blank_from(walk, key->text.data);
    return NULL;
}

/* Blanks a token where a key should be. */
static void refuse_token(struct walk *walk,
                         const struct config_section *section,
                         const struct config_token *token)
{
    if (token->kind == CONFIG_CLOSE)
        config_fault(walk->faults, section, token->line,
                     "this '}' closes nothing");
    else
        config_fault(walk->faults, section, token->line,
                     "'%c' where a key should be", *token->text.data);
    if (token->kind == CONFIG_OPEN)
        skip_block(walk);
    blank_from(walk, token->text.data);
}

/* Sections go in and out again without recursion: above leads back. */
static void walk_all(struct walk *walk, struct config_section *top)
{
    struct config_section *section = top;

    while (!walk->has_failed) {
        struct config_token token = next_token(walk);
        struct config_section *opened;

        if (token.kind == CONFIG_END)
            break;
        if (token.kind == CONFIG_CLOSE && section != top) {
            section = section->above == top ? top : top->last;
        } else if (token.kind != CONFIG_STRING) {
            refuse_token(walk, section, &token);
        } else {
            opened = read_statement(walk, section, &token);
            if (opened)
                section = opened;
        }
    }
    for (const struct config_section *open = section; open->above;
         open = open->above)
        config_fault(walk->faults, open, open->line, "its '}' is missing");
}

struct config_section *config_outline(const struct config_source *source,
                                      struct arena *arena,
                                      struct faults *faults)
{
    struct walk walk = {.cursor = config_source_cursor(source),
                        .text = source->text,
                        .arena = arena,
                        .faults = faults};
    struct config_section *top = arena_take(arena, sizeof(*top));

    if (!top)
        return NULL;
    *top = (struct config_section){.kind = CONFIG_TOP};
    walk_all(&walk, top);
    return walk.has_failed ? NULL : top;
}
