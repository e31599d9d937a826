#include "privileged.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static const char secret_text[] = "only root knows\n";

const char *at(const char *name)
{
    return printed("%s/%s", folder(), name);
}

void make_folder(const char *name, uid_t owner)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
    assert_int_equal(chown(at(name), owner, owner), 0);
}

int privileged_begin(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    operator_adopt();
    if (geteuid() != 0)
        return 0;
    site_text("canary", "canary\n");
    if (chmod(folder(), 0755) != 0)
        return -1;
    make_folder("roots", 0);
    make_folder("private", 0);
    make_folder("private/www", 0);
    make_folder("theirs", NOBODY);
    make_folder("others", OTHER);
    site_text("../private/www/index.html", secret_text);
    return chmod(at("private"), 0700);
}

const char *make_secret(void)
{
    site_text("../roots/secret", secret_text);
    assert_int_equal(chmod(at("roots/secret"), 0600), 0);
    return at("roots/secret");
}

void expect_secret(void)
{
    struct stat st;

    assert_string_equal(read_text(at("roots/secret"), NULL), secret_text);
    assert_int_equal(stat(at("roots/secret"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

void lead(const char *name, const char *target)
{
    unlink(at(name));
    assert_int_equal(symlink(target, at(name)), 0);
    assert_int_equal(lchown(at(name), NOBODY, NOBODY), 0);
}

unsigned long access_of(pid_t pid, int fd)
{
    const char *flags =
        strstr(read_text(printed("/proc/%d/fdinfo/%d", (int)pid, fd), NULL),
               "flags:");

    assert_non_null(flags);
    return strtoul(flags + 6, NULL, 8) & O_ACCMODE;
}

long terminal_of(pid_t pid)
{
    const char *text = read_text(printed("/proc/%d/stat", (int)pid), NULL);
    const char *name_end = strrchr(text, ')');
    long number = -1;

    assert_non_null(name_end);
    assert_int_equal(sscanf(name_end, ") %*c %*d %*d %*d %ld", &number), 1);
    return number;
}

unsigned count_open(pid_t pid, const char *path, bool *writes_out)
{
    unsigned count = 0;

    *writes_out = false;
    for (int fd = 0; fd < 100; fd++) {
        char target[PATH_MAX];
        ssize_t len = readlink(printed("/proc/%d/fd/%d", (int)pid, fd), target,
                               sizeof(target) - 1);

        if (len == -1)
            continue;
        target[len] = '\0';
        if (strcmp(target, path) != 0)
            continue;
        *writes_out |= access_of(pid, fd) != O_RDONLY;
        count++;
    }
    return count;
}

pid_t number_in(const char *path)
{
    return (pid_t)strtol(read_text(path, NULL), NULL, 10);
}
