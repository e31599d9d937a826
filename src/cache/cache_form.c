#include "cache/cache_form.h"

static const struct form {
    struct bytes name;
    const char *usual[3]; /* usual values of the field, if it has some */
    bool has_no_other;    /* writes invalidate only the usual values */
} table[] = {{{"X-Scheme", 8}, {"http", "https"}, false},
             {{"X-ARR-SSL", 9}, {NULL}, false},
             {{"X-Nextjs-Data", 13}, {"1"}, false},
             {{"X-Middleware-Prefetch", 21}, {"1"}, false},
             {{"CF-Visitor", 10},
              {"{\"scheme\":\"http\"}", "{\"scheme\":\"https\"}"},
              false},
             {{"CloudFront-Forwarded-Proto", 26}, {"http", "https"}, false},
             {{"Fastly-SSL", 10}, {"1"}, false},
             {{"WL-Proxy-SSL", 12}, {"true"}, false},
             {{"RSC", 3}, {"1"}, false},
             /* By these a request asks for a part of the page, or JSON. */
             {{"X-Requested-With", 16}, {"XMLHttpRequest"}, true},
             {{"HX-Request", 10}, {"true"}, true},
             {{"HX-Boosted", 10}, {NULL}, true},
             {{"HX-Target", 9}, {NULL}, true},
             {{"X-Inertia-Partial-Component", 27}, {NULL}, true},
             {{"HX-History-Restore-Request", 26}, {NULL}, true},
             {{"X-PJAX", 6}, {"true"}, true},
             {{"Turbo-Frame", 11}, {NULL}, true}};

enum { FORMS = sizeof(table) / sizeof(*table) };

_Static_assert(FORMS < 32, "each has a bit");

/* Returns the form that a field asks for; NULL when it asks for none. */
static const struct form *find_form(const struct field *field)
{
    static const uint32_t lengths = 1u << 3 | 1u << 6 | 1u << 8 | 1u << 9 |
                                    1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 |
                                    1u << 16 | 1u << 21 | 1u << 26 | 1u << 27;
    size_t len = field->name.len;

    if (field->id != FIELD_OTHER || len >= 32 ||
        !(lengths & (1u << len))) /* the usual case */
        return NULL;
    for (size_t i = 0; i < FORMS; i++)
        if (field_is_called(field->name, table[i].name))
            return &table[i];
    return NULL;
}

static bool is_usual(const struct form *form, struct bytes value)
{
    for (const char *const *usual = form->usual; *usual; usual++)
        if (bytes_eq(value, bytes_of(*usual)))
            return true;
    return false;
}

static uint32_t bit_of(const struct form *form)
{
    return 1u << (form - table);
}

struct cache_forms cache_forms_read(const struct request *request)
{
    struct cache_forms forms = {.asked = 0};
    bool is_part = false;
    unsigned count = 0;

    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];
        const struct form *form = find_form(field);

        if (!form)
            continue;
        count++;
        forms.asked |= bit_of(form);
        is_part |= form->has_no_other;
        forms.are_odd |= form->has_no_other && !is_usual(form, field->value);
    }
    forms.are_odd |= is_part && count > 1;
    return forms;
}

/* --- Writing forms ------------------------------------------------------- */

static void put_form(struct bytes name, struct bytes value, struct buf *out)
{
    buf_put_literal(out, "\n");
    for (size_t i = 0; i < name.len; i++) {
        char lower = byte_lower(name.data[i]);

        buf_put(out, (struct bytes){&lower, 1});
    }
    buf_put_literal(out, "=");
    buf_put(out, value);
}

/* Puts the request's fields of one form. */
static void put_fields(const struct form *form, const struct request *request,
                       struct buf *out)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];

        if (find_form(field) == form)
            put_form(field->name, field->value, out);
    }
}

/* Puts the forms that are asked for, and the form `added`, unless it is NULL.
 * `value` is put for that form, in the place of the request's own fields. */
static void put_all(uint32_t asked, const struct request *request,
                    const struct form *added, const char *value,
                    struct buf *out)
{
    for (size_t i = 0; asked >> i > 0; i++) {
        if (added == &table[i])
            put_form(added->name, bytes_of(value), out);
        else if (asked >> i & 1)
            put_fields(&table[i], request, out);
    }
}

void cache_forms_put(const struct cache_forms *forms,
                     const struct request *request, struct buf *out)
{
    put_all(forms->asked, request, NULL, NULL, out);
}

bool cache_forms_put_with(const struct cache_forms *forms,
                          const struct request *request, unsigned number,
                          struct buf *out)
{
    for (size_t i = 0; i < FORMS; i++)
        for (const char *const *value = table[i].usual; *value; value++)
            if (number-- == 0) {
                put_all(forms->asked | bit_of(&table[i]), request, &table[i],
                        *value, out);
                return true;
            }
    return false;
}
