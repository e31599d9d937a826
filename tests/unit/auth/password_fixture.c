#include "unit/auth/password_fixture.h"

#include <pthread.h>

#include "wrap.h"

/* --- Checks take as long as the test wants -------------------------------- */

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_is_open; /* all guarded by gate_mutex */
static unsigned begun;    /* checks */
unsigned begun_before;
char last_user[HTPASSWD_NAME_BYTES_MAX + 1];
char begun_users[256]; /* their first letters */

WRAP(bool, htpasswd_check, struct htpasswd *file, struct bytes user,
     struct bytes password)
{
    (void)file;
    pthread_mutex_lock(&gate_mutex);
    if (begun < sizeof(begun_users) - 1)
        begun_users[begun] = user.data[0];
    begun++;
    memcpy(last_user, user.data, user.len);
    last_user[user.len] = '\0';
    pthread_cond_broadcast(&gate_changed);
    while (!gate_is_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
    return bytes_eq(password, BYTES("right"));
}

void set_gate(bool is_open)
{
    pthread_mutex_lock(&gate_mutex);
    gate_is_open = is_open;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

unsigned count_begun(void)
{
    unsigned count;

    pthread_mutex_lock(&gate_mutex);
    count = begun;
    pthread_mutex_unlock(&gate_mutex);
    return count;
}

void wait_until_begun(unsigned count)
{
    pthread_mutex_lock(&gate_mutex);
    while (begun < count)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
}

int threads_left = -1; /* that can be made; -1: all */

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr,
     void *(*run)(void *), void *context)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, attr, run, context);
}

/* --- Two workers in one thread -------------------------------------------- */

struct ev_loop *loop;
struct mailbox *mailboxes[CLIENTS];
struct password_check *check;
struct password_client *clients[CLIENTS];
struct htpasswd *htpasswd;
static char path[] = "/tmp/password-client-XXXXXX";
uint64_t now_ms;

struct asking askings[WAITS];

void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

int set_up(void **state)
{
    struct htpasswd_fault fault;
    int fd;

    (void)state;
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    assert_true(fd != -1);
    close(fd);
    write_file("");
    begun = begun_before = 0;
    memset(begun_users, 0, sizeof(begun_users));
    now_ms = START_MS;
    set_gate(true);
    memset(askings, 0, sizeof(askings));
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    assert_non_null(loop);
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), 0);
    assert_int_equal(password_check_create(&check, THREADS), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        mailboxes[i] = mailbox_create(loop, 2, (struct mailbox_receiver){0});
        assert_non_null(mailboxes[i]);
        assert_int_equal(password_client_create(&clients[i], check,
                                                mailboxes[i]),
                         0);
    }
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    set_gate(true);
    for (size_t i = 0; i < WAITS; i++)
        password_client_cancel(clients[0], &askings[i].wait);
    password_check_stop(check);
    for (size_t i = 0; i < CLIENTS; i++) {
        password_client_destroy(clients[i]);
        mailbox_destroy(mailboxes[i]);
    }
    password_check_destroy(check);
    htpasswd_release(&htpasswd);
    ev_loop_destroy(loop);
    return unlink(path);
}

static void on_done(struct password_wait *wait, enum password_verdict verdict)
{
    struct asking *asking = (struct asking *)(void *)wait;

    asking->told++;
    asking->verdict = verdict;
    if (asking->then)
        asking->then(asking);
}

static enum password_verdict ask_as(size_t client, size_t number,
                                    const char *user, const char *password,
                                    const struct address *asker)
{
    struct password_question question = {htpasswd, bytes_of(user),
                                         bytes_of(password), asker, now_ms};

    assert_true(number < WAITS);
    askings[number].wait.on_done = on_done;
    return password_client_ask(clients[client], &question,
                               &askings[number].wait);
}

enum password_verdict ask_from(size_t client, size_t number, const char *user,
                               const char *password, uint8_t host)
{
    struct address asker = {.family = ADDRESS_IPV4,
                            .octets = {192, 0, 2, host}};

    return ask_as(client, number, user, password, &asker);
}

/* From 2001:db8:SITE:SUBNET::1. */
enum password_verdict ask_from_site(size_t number, const char *user,
                                    const char *password, uint8_t site,
                                    uint8_t subnet)
{
    struct address asker = {.family = ADDRESS_IPV6,
                            .octets = {0x20, 0x01, 0x0d, 0xb8, 0, site, 0,
                                       subnet, [15] = 1}};

    return ask_as(0, number, user, password, &asker);
}

enum password_verdict ask(size_t number, const char *user, const char *password)
{
    return ask_from(0, number, user, password, 1);
}

/* Runs the loop until that one has been told. */
enum password_verdict wait_for(size_t number)
{
    while (askings[number].told == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(askings[number].told, 1);
    return askings[number].verdict;
}
