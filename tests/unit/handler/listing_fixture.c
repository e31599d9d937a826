#include "unit/handler/listing_fixture.h"

#include <dirent.h>
#include <limits.h>

#include "wrap.h"

/* --- System calls that fail, or tell what a test wants them to ------------ */

static int stats; /* calls of fstatat since the last fill */
const char *vanishing;
const struct stat *told;
int reads_left = INT_MAX;
unsigned made_up_count;
size_t made_up_len = 5;
unsigned made_up_at;

WRAP(int, fstatat, int fd, const char *name, struct stat *st, int flags)
{
    int status = __real_fstatat(fd, made_up_count > 0 ? "." : name, st, flags);

    stats++;
    if (made_up_count > 0)
        st->st_mode = S_IFREG;
    if (vanishing && strcmp(name, vanishing) == 0) {
        errno = ENOENT;
        return -1;
    }
    if (status == 0 && told) {
        st->st_size = told->st_size;
        st->st_mtim = told->st_mtim;
    }
    return status;
}

static struct dirent *make_up_name(void)
{
    static union {
        struct dirent entry;
        char bytes[sizeof(struct dirent) + 2048];
    } found;
    char *name = found.bytes + offsetof(struct dirent, d_name);

    if (made_up_at == made_up_count)
        return NULL;
    memset(name, 'x', made_up_len);
    name[made_up_len] = '\0';
    /* 7919 is a prime that divides none of our counts. */
    for (unsigned i = 5, n = made_up_at++ * 7919 % made_up_count; i-- > 0;
         n /= 10)
        name[i] = (char)('0' + n % 10);
    return &found.entry;
}

WRAP(struct dirent *, readdir, DIR *directory)
{
    if (made_up_count > 0)
        return make_up_name();
    if (reads_left-- > 0)
        return __real_readdir(directory);
    errno = EIO;
    return NULL;
}

/* --- A root of our own ---------------------------------------------------- */

struct listing_group group;

int count_open(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    const char *temp = getenv("TMPDIR");

    if (!place)
        return -1;
    *state = place;
    listing_group_init(&group);
    snprintf(place->name, sizeof(place->name), "%s/listing.XXXXXX",
             temp && strlen(temp) < 40 ? temp : "/tmp");
    if (!mkdtemp(place->name))
        return -1;
    place->fd = open(place->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place->fd == -1 || docroot_open(&place->root, place->name, false) < 0)
        return -1;
    place->open_count = count_open();
    return 0;
}

int tear_down(void **state)
{
    struct place *place = *state;
    int status = tree_remove(place->name);

    if (count_open() != place->open_count) /* a listing left some */
        status = -1;
    docroot_close(&place->root);
    close(place->fd);
    free(place);
    vanishing = NULL;
    told = NULL;
    reads_left = INT_MAX;
    allocations_left = -1;
    made_up_count = made_up_at = 0;
    made_up_len = 5;
    return status;
}

void make_file(const struct place *place, const char *name)
{
    int fd = openat(place->fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    close(fd);
}

void make_directory(const struct place *place, const char *name)
{
    assert_int_equal(mkdirat(place->fd, name, 0755), 0);
}

/* --- Whole listings ------------------------------------------------------- */

struct piece pull(struct source *source)
{
    const struct text_source *filled = (const struct text_source *)source;
    struct piece piece;

    stats = 0;
    piece = source->next(source, UINT64_MAX);
    assert_int_not_equal(piece.state, PIECE_LATER);
    assert_int_equal(piece.part.kind, PART_MEMORY);
    assert_in_range(piece.part.len, 0, BODY_PIECE_BYTES);
    assert_in_range(filled->out.len, 0, BODY_PIECE_BYTES);
    assert_false(filled->out.failed && piece.state != PIECE_FAILED);
    /* A batch, and the directory itself if it is opened again. */
    assert_in_range(stats, 0, 64 + 1);
    return piece;
}

char *read_all(struct source *source)
{
    struct buf text;
    struct piece piece;

    buf_init(&text, NULL, 0, SIZE_MAX / 2);
    do {
        piece = pull(source);
        buf_put(&text, (struct bytes){piece.part.at.memory, piece.part.len});
    } while (piece.state == PIECE_MORE);
    source->destroy(source);
    buf_put(&text, (struct bytes){"", 1});
    assert_false(text.failed);
    if (piece.state == PIECE_END)
        return text.data;
    buf_fini(&text);
    return NULL;
}

char *list_path(const struct place *place, const char *path,
                enum listing_format format, bool show_hidden)
{
    struct source *source = listing_open(&place->root, &group, bytes_of(path),
                                         format, show_hidden);
    char *text;

    assert_non_null(source);
    text = read_all(source);
    assert_non_null(text);
    if (format == LISTING_JSON && !json_is_valid(text))
        fail_msg("not JSON: %s", text);
    return text;
}

char *list(const struct place *place, enum listing_format format)
{
    return list_path(place, "/", format, false);
}

char *names_of(const char *json)
{
    static const char before[] = "{\"name\":\"";
    const char *end = json + strlen(json);
    struct buf names;

    buf_init(&names, NULL, 0, SIZE_MAX / 2);
    for (const char *line = json, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *name;

        next = stop ? stop + 1 : end;
        name = memmem(line, (size_t)(next - line), before, sizeof(before) - 1);
        if (!name)
            continue;
        name += sizeof(before) - 1;
        stop = memchr(name, '"', (size_t)(next - name));
        assert_non_null(stop);
        buf_put(&names, (struct bytes){name, (size_t)(stop - name)});
        buf_put_literal(&names, " ");
    }
    buf_put(&names, (struct bytes){"", 1});
    return names.data;
}

void assert_names(const struct place *place, const char *path, bool show_hidden,
                  const char *wanted)
{
    char *json = list_path(place, path, LISTING_JSON, show_hidden);
    char *names = names_of(json);

    assert_string_equal(names, wanted);
    free(names);
    free(json);
}
