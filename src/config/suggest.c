#include "config/suggest.h"

enum { NAME_BYTES_MAX = 64 };

/* Returns how many characters must be added, removed or replaced to turn `a`
 * into `b`. */
static size_t distance(struct bytes a, struct bytes b)
{
    size_t row[NAME_BYTES_MAX + 1];

    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
            size_t best = row[j] < row[j - 1] ? row[j] : row[j - 1];

            diagonal = row[j];
            row[j] = best + 1 < changed ? best + 1 : changed;
        }
    }
    return row[b.len];
}

void suggest_init(struct suggest *suggest, struct bytes name)
{
    *suggest = (struct suggest){.name = name,
                                .least = (name.len > 8 ? name.len / 3 : 2) + 1};
}

void suggest_consider(struct suggest *suggest, const char *other)
{
    struct bytes name = bytes_of(other);
    size_t far;

    if (suggest->name.len > NAME_BYTES_MAX || name.len > NAME_BYTES_MAX)
        return;
    far = distance(suggest->name, name);
    if (far < suggest->least && 2 * far <= suggest->name.len) {
        suggest->least = far;
        suggest->found = other;
    }
}
