/* link: -Wl,--wrap=crypt_rn,--wrap=fstat */
#include "auth/htpasswd.h"

#include <pthread.h>
#include <sys/stat.h>

#include "io/small_file.h"
#include "suite.h"
#include "wrap.h"

/* All of "secret". */
#define BCRYPT_Y "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define BCRYPT_B "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define SHA256 \
    "$5$rounds=1000$saltsalt$eKLZU9t9OoPWrqOQsoTIKG0aYkZ5rGOoOQhiIvoSWX2"
#define SHA256_NO_SALT "$5$$o1w7HPzHt8gHmL5zUzDkRqt6Az.BjDfkvuDNNLWnXx5"
#define SHA512                                               \
    "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n" \
    "0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1"
/* And of "p\xC3\xA4ssword". */
#define BCRYPT_UTF8 \
    "$2y$04$abcdefghijklmnopqrstuum174eFeoTj0DHmtuueFaS3Wde4P7wHG"

static unsigned crypt_calls;
static char crypt_setting[256];

WRAP(char *, crypt_rn, const char *phrase, const char *setting, void *data,
     int size)
{
    crypt_calls++;
    snprintf(crypt_setting, sizeof(crypt_setting), "%s", setting);
    return __real_crypt_rn(phrase, setting, data, size);
}

static int fstat_error;

WRAP(int, fstat, int fd, struct stat *st)
{
    if (fstat_error == 0)
        return __real_fstat(fd, st);
    errno = fstat_error;
    return -1;
}

static char path[] = "/tmp/htpasswd-XXXXXX";

static int set_up(void **state)
{
    int fd;

    (void)state;
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    if (fd != -1)
        close(fd);
    return fd == -1 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path) == -1 && errno != ENOENT ? -1 : 0;
}

static void write_file(struct bytes text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd != -1);
    assert_int_equal(write(fd, text.data, text.len), text.len);
    close(fd);
}

/* In the way of tools that put a new file in the place of the old. */
static void replace_file(const char *text)
{
    assert_int_equal(unlink(path), 0);
    write_file(bytes_of(text));
}

static struct htpasswd *open_text(const char *text)
{
    struct htpasswd *htpasswd = NULL;
    struct htpasswd_fault fault = {0, ""};

    write_file(bytes_of(text));
    if (htpasswd_open(&htpasswd, path, &fault) != 0)
        fail_msg("line %u: %s", fault.line, fault.text);
    return htpasswd;
}

static bool check(struct htpasswd *htpasswd, const char *user,
                  const char *password)
{
    return htpasswd_check(htpasswd, bytes_of(user), bytes_of(password));
}

TEST(each_kind_of_hash_is_checked)
{
    static const char *const users[] = {"y", "b", "five", "bare", "six"};
    struct htpasswd *htpasswd = open_text("y:" BCRYPT_Y "\nb:" BCRYPT_B
                                          "\nfive:" SHA256
                                          "\nbare:" SHA256_NO_SALT
                                          "\nsix:" SHA512
                                          "\nutf8:" BCRYPT_UTF8);

    for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
        assert_true(check(htpasswd, users[i], "secret"));
        assert_false(check(htpasswd, users[i], "secreT"));
        assert_false(check(htpasswd, users[i], "secret "));
        assert_false(check(htpasswd, users[i], ""));
    }
    assert_true(check(htpasswd, "utf8", "p\xC3\xA4ssword"));
    assert_false(check(htpasswd, "utf8", "p\xE4ssword"));
    assert_false(check(htpasswd, "utf8", "secret"));
    htpasswd_release(&htpasswd);
    assert_null(htpasswd);
}

TEST(comments_blank_lines_and_further_fields_are_skipped)
{
    struct htpasswd *htpasswd = open_text("# a comment\r\n\r\n\n"
                                          "a b:" BCRYPT_Y ":Real Name:x\r\n"
                                          "#no:one\n");

    assert_true(check(htpasswd, "a b", "secret"));
    assert_false(check(htpasswd, "a", "secret"));
    assert_false(check(htpasswd, "#no", "one"));
    htpasswd_release(&htpasswd);
}

TEST(nul_and_overlong_passwords_are_wrong)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");
    char text[HTPASSWD_PASSWORD_BYTES_MAX + 1];

    memset(text, 'x', sizeof(text));
    assert_false(htpasswd_check(htpasswd, BYTES("a"), BYTES("secret\0x")));
    assert_false(htpasswd_check(htpasswd, BYTES("a"),
                                (struct bytes){text, sizeof(text)}));
    assert_false(htpasswd_check(htpasswd, BYTES("a"),
                                (struct bytes){text, sizeof(text) - 1}));
    assert_false(htpasswd_check(htpasswd, BYTES("a\0"), BYTES("secret")));
    htpasswd_release(&htpasswd);
}

TEST(unknown_users_cost_what_known_ones_do)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\nb:" SHA256 "\n");
    char first[sizeof(crypt_setting)];
    bool saw_bcrypt = false, saw_sha = false;

    crypt_calls = 0;
    for (int i = 0; i < 100; i++) {
        char name[24];

        snprintf(name, sizeof(name), "nobody%d", i);
        assert_false(check(htpasswd, name, "secret"));
        memcpy(first, crypt_setting, sizeof(first));
        assert_false(check(htpasswd, name, "other"));
        assert_string_equal(first, crypt_setting);
        saw_bcrypt |= strcmp(first, BCRYPT_Y) == 0;
        saw_sha |= strcmp(first, SHA256) == 0;
    }
    assert_int_equal(crypt_calls, 200);
    assert_true(saw_bcrypt && saw_sha);
    htpasswd_release(&htpasswd);
}

TEST(an_empty_file_lets_nobody_in_at_a_price)
{
    struct htpasswd *htpasswd = open_text("# nobody yet\n");

    crypt_calls = 0;
    assert_false(check(htpasswd, "a", "secret"));
    assert_int_equal(crypt_calls, 1);
    assert_int_equal(strncmp(crypt_setting, "$2y$10$", 7), 0);
    htpasswd_release(&htpasswd);
}

TEST(faults_are_told_with_their_line)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *why; /* the begin of it */
    } cases[] = {
        {"a:" BCRYPT_Y "\nb\n", 2, "no ':'"},
        {"\n\n:" BCRYPT_Y, 3, "a user without"},
        {"a\tb:" BCRYPT_Y, 1, "a control"},
        {"a:" BCRYPT_Y "\n#\na:" SHA256, 3, "a user for the second"},
        {"a:$apr1$salt$0123456789012345678901", 1, "an MD5"},
        {"a:$1$salt$0123456789012345678901", 1, "an MD5"},
        {"a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", 1, "a SHA-1"},
        {"a:secret", 1, "neither"},
        {"a:", 1, "neither"},
        {"a:*", 1, "neither"},
        {"a:{PLAIN}x", 1, "neither"},
        {"a:abJnggxhB/yWI", 1, "neither"},
        {"a:$y$j9T$x$y", 1, "neither"},
        {"a:$2x$" BCRYPT_Y, 1, "neither"},
        {"a:" BCRYPT_Y "x", 1, "not a bcrypt"},
        {"a: " BCRYPT_Y, 1, "neither"},
        {"a:" BCRYPT_Y " ", 1, "not a bcrypt"},
        {"a:$2y$", 1, "not a bcrypt"},
        {"a:$2y$4$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrWx", 1,
         "not a bcrypt"},
        {"a:$2y$03$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW", 1,
         "not a bcrypt"},
        {"a:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WI_W", 1,
         "not a bcrypt"},
        {"a:$2y$15$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW", 1,
         "a bcrypt hash of a cost over 14"},
        {"a:" SHA256 "x", 1, "not a SHA-crypt"},
        {"a:$5$", 1, "not a SHA-crypt"},
        {"a:$6$rounds=", 1, "not a SHA-crypt"},
        {"a:$6$rounds=5000", 1, "not a SHA-crypt"},
        {"a:$6$rounds=999$s$x", 1, "not a SHA-crypt hash: its rounds"},
        {"a:$6$rounds=05000$s$x", 1, "not a SHA-crypt hash: its rounds"},
        {"a:$6$rounds=1000001$s$x", 1, "a SHA-crypt hash of over"},
        {"a:$6$rounds=99999999999999999999$s$x", 1, "a SHA-crypt hash of over"},
        {"a:$5$saltsaltsaltsalts$o1w7HPzHt8gHmL5zUzDkRqt6Az.BjDfkvuDNNLWnXx5",
         1, "not a SHA-crypt"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct htpasswd *htpasswd = NULL;
        struct htpasswd_fault fault = {0, ""};

        write_file(bytes_of(cases[i].text));
        assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -EINVAL);
        assert_null(htpasswd);
        if (fault.line != cases[i].line ||
            strncmp(fault.text, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("case %zu: line %u: %s", i, fault.line, fault.text);
    }
}

TEST(what_is_too_large_is_refused)
{
    enum { LINE = 72 };
    size_t size = (size_t)(HTPASSWD_USERS_MAX + 1) * LINE;
    char *text = malloc(size + SMALL_FILE_BYTES_MAX);
    struct htpasswd *htpasswd = NULL;
    struct htpasswd_fault fault;
    char name[300];

    assert_non_null(text);
    for (size_t i = 0; i <= HTPASSWD_USERS_MAX; i++)
        snprintf(text + i * LINE, LINE + 1, "u%09zu:" BCRYPT_Y "\n", i);
    write_file((struct bytes){text, size - LINE});
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), 0);
    assert_true(check(htpasswd, "u000009999", "secret"));
    htpasswd_release(&htpasswd);
    write_file((struct bytes){text, size});
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -EINVAL);
    assert_int_equal(fault.line, HTPASSWD_USERS_MAX + 1);

    memset(text, '\n', SMALL_FILE_BYTES_MAX + 1);
    write_file((struct bytes){text, SMALL_FILE_BYTES_MAX});
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), 0);
    htpasswd_release(&htpasswd);
    write_file((struct bytes){text, SMALL_FILE_BYTES_MAX + 1});
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -EINVAL);
    assert_string_equal(fault.text, "it has more than 1 MiB");
    assert_int_equal(fault.line, 0);
    free(text);

    memset(name, 'x', sizeof(name));
    name[256] = ':';
    memcpy(name + 257, "x", 2);
    write_file(bytes_of(name));
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -EINVAL);
    assert_string_equal(fault.text, "a user's name of over 255 bytes");
}

TEST(what_is_no_file_is_refused)
{
    struct htpasswd *htpasswd = NULL;
    struct htpasswd_fault fault;

    assert_int_equal(htpasswd_open(&htpasswd, "/tmp", &fault), -EINVAL);
    assert_string_equal(fault.text, "it is no file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -ENOENT);
    /* A pipe does not hold it up. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), -EINVAL);
}

TEST(a_changed_file_counts_from_the_next_look_on)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");
    uint64_t first = htpasswd_generation(htpasswd);

    htpasswd_refresh(htpasswd);
    assert_int_equal(htpasswd_generation(htpasswd), first);
    replace_file("b:" SHA256 "\n");
    assert_true(check(htpasswd, "a", "secret"));
    htpasswd_refresh(htpasswd);
    assert_int_not_equal(htpasswd_generation(htpasswd), first);
    assert_false(check(htpasswd, "a", "secret"));
    assert_true(check(htpasswd, "b", "secret"));
    htpasswd_release(&htpasswd);
}

TEST(a_faulty_or_missing_file_changes_nothing)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");
    uint64_t first = htpasswd_generation(htpasswd);

    replace_file("a:plain\n");
    htpasswd_refresh(htpasswd);
    assert_int_equal(unlink(path), 0);
    htpasswd_refresh(htpasswd);
    htpasswd_refresh(htpasswd);
    assert_int_equal(htpasswd_generation(htpasswd), first);
    assert_true(check(htpasswd, "a", "secret"));
    write_file(BYTES("b:" BCRYPT_Y "\n"));
    htpasswd_refresh(htpasswd);
    assert_true(check(htpasswd, "b", "secret"));
    htpasswd_release(&htpasswd);
}

TEST(what_could_not_be_read_is_tried_again)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");

    replace_file("b:" BCRYPT_Y "\n");
    fstat_error = EIO;
    htpasswd_refresh(htpasswd);
    fstat_error = 0;
    assert_true(check(htpasswd, "a", "secret"));
    htpasswd_refresh(htpasswd);
    assert_true(check(htpasswd, "b", "secret"));
    htpasswd_release(&htpasswd);
}

TEST(no_two_contents_have_one_generation)
{
    struct htpasswd *a = open_text("a:" BCRYPT_Y "\n");
    struct htpasswd *b = open_text("a:" BCRYPT_Y "\n");

    assert_int_not_equal(htpasswd_generation(a), htpasswd_generation(b));
    htpasswd_release(&a);
    htpasswd_release(&b);
}

TEST(it_is_due_once_a_second)
{
    struct htpasswd *htpasswd = open_text("");

    assert_true(htpasswd_is_due(htpasswd, 5000));
    assert_false(htpasswd_is_due(htpasswd, 5000));
    assert_false(htpasswd_is_due(htpasswd, 5999));
    assert_true(htpasswd_is_due(htpasswd, 6000));
    assert_false(htpasswd_is_due(htpasswd, 6001));
    htpasswd_release(&htpasswd);
}

TEST(it_stays_until_the_last_release)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");
    struct htpasswd *other = htpasswd_acquire(htpasswd);

    htpasswd_release(&htpasswd);
    assert_true(check(other, "a", "secret"));
    htpasswd_release(&other);
    htpasswd_release(&other);
}

static void *refresh_often(void *context)
{
    for (int i = 0; i < 200; i++)
        htpasswd_refresh(context);
    return NULL;
}

TEST(it_may_change_while_it_is_used)
{
    struct htpasswd *htpasswd = open_text("a:" BCRYPT_Y "\n");
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, refresh_often, htpasswd), 0);
    for (int i = 0; i < 20; i++) {
        char other[] = "/tmp/htpasswd-XXXXXX";
        int fd = mkstemp(other);

        assert_true(fd != -1);
        assert_true(dprintf(fd, "a:" BCRYPT_Y "\nb%d:" SHA256 "\n", i) > 0);
        close(fd);
        assert_int_equal(rename(other, path), 0);
        assert_true(check(htpasswd, "a", "secret"));
    }
    pthread_join(thread, NULL);
    htpasswd_refresh(htpasswd);
    assert_true(check(htpasswd, "b19", "secret"));
    htpasswd_release(&htpasswd);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
