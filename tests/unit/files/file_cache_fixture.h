/*
 * file_cache_fixture - a file cache over a temporary root, with a clock that
 * the test moves and system calls that are counted and may fail.
 *
 * Who includes it links with --wrap=syscall,fstatat,pread,malloc,calloc.
 */
#ifndef UNIT_FILE_CACHE_FIXTURE_H
#define UNIT_FILE_CACHE_FIXTURE_H

#include "files/file_cache.h"

#include "suite.h"
#include "unit/memory.h"
#include "unit/openat2.h"
#include "unit/place.h"

enum { SNAPSHOT_BYTES = 100 };

/* --- System calls -------------------------------------------------------- */

extern unsigned stats; /* by name */
extern void (*after_pread)(void);

/* --- A cache ------------------------------------------------------------- */

extern struct place place;
extern struct now now;
extern struct file_cache_options options;
extern struct file_space space;
extern struct file_cache *cache;

/* Makes the cache anew, as options say. */
void remake(void);

int set_up(void **state);

/* No descriptor may be left open. */
int tear_down(void **state);

struct file_entry *acquire_coded(const char *path, enum coding coding);
struct file_entry *acquire(const char *path);
enum file_kind kind_of(const char *path);

/* Time goes by until entries must be checked again. */
void pass_check(void);

void write_file(const char *name, const char *text);

/* A file of so many bytes, all zero. */
void write_zeros(const char *name, off_t bytes);

void assert_body(const struct file_entry *entry, const char *expected);
void assert_serves(const char *path, const char *expected);

#endif
