/*
 * listing_fixture - a root of our own, and whole listings of what is in it; the
 * system calls a listing makes can fail, or tell of directories that are not
 * there.
 *
 * A test that includes this links with the --wrap options of test_listing.c.
 */
#ifndef UNIT_LISTING_FIXTURE_H
#define UNIT_LISTING_FIXTURE_H

#include "handler/listing.h"
#include "json_check.h"
#include "suite.h"
#include "tree.h"
#include "unit/memory.h"
#include "unit/says.h"

/* --- System calls that fail, or tell what a test wants them to ------------ */

extern const char *vanishing;   /* the name that is gone when statted */
extern const struct stat *told; /* what is told of every name */
extern int reads_left;

/* So many names, each of so many bytes, are read in the place of what is
 * there: "00000xx", in an order that is not theirs. All are files. */
extern unsigned made_up_count;

extern size_t made_up_len;
extern unsigned made_up_at;

/* --- A root of our own ---------------------------------------------------- */

struct place {
    char name[64];
    int fd;
    int open_count; /* descriptors open when nothing is listed */
    struct docroot root;
};

extern struct listing_group group; /* empty before each test */

int count_open(void); /* descriptors that are open now */
int set_up(void **state);
int tear_down(void **state);
void make_file(const struct place *place, const char *name);
void make_directory(const struct place *place, const char *name);

/* --- Whole listings ------------------------------------------------------- */

/* The next piece, which is all of a fill. Whatever is listed, none may do more
 * than its share. */
struct piece pull(struct source *source);

/* The text of a listing to its end, or NULL when it breaks off. */
char *read_all(struct source *source);

char *list_path(const struct place *place, const char *path,
                enum listing_format format, bool show_hidden);
char *list(const struct place *place, enum listing_format format);

/* The names of a JSON listing, each with a space behind it. By memchr: where a
 * text is long, the sanitizers look at all of it in every function of
 * strings. */
char *names_of(const char *json);

void assert_names(const struct place *place, const char *path, bool show_hidden,
                  const char *wanted);

#endif
