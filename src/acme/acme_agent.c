#include "acme/acme_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "acme/acme_account.h"
#include "acme/acme_order.h"
#include "base/log.h"
#include "config/certificates/managed_told.h"
#include "http/date.h"

enum {
    TURN_S = 10,     /* time between checks for a changed clock or file */
    WAIT_LOCK_S = 2, /* pause while another process has the lock */
    DAY_S = 24 * 3600,
    DATE_MAX = 32
};

static uint32_t any_chance(void)
{
    uint32_t chance = 0;

    return getrandom(&chance, sizeof(chance), 0) == sizeof(chance) ? chance : 0;
}

/* --- Trying -------------------------------------------------------------- */

/* Tries one challenge after the other with one authority. */
static enum acme_result try_challenges(struct acme_agent *agent,
                                       struct acme_job *job,
                                       struct acme_problem *problem)
{
    enum acme_result result = ACME_FAILED;

    for (size_t i = 0; i < agent->settings.challenges.count; i++) {
        job->challenge = agent->settings.challenges.items[i];
        result = acme_order_run(job, problem);
        if (result == ACME_REFUSED)
            job->record->order[0] = '\0';
        if (result != ACME_REFUSED || !job->is_invalid)
            return result;
        log_info("acme: %s by %s: %s", job->certificate->names.items[0],
                 job->challenge, problem->text);
    }
    return result;
}

static enum acme_result try_account(struct acme_agent *agent,
                                    struct acme_job *job,
                                    struct acme_problem *problem)
{
    enum acme_result result = ACME_FAILED;

    for (int i = 0; i < 2; i++) {
        struct acme_account account;

        result = acme_account_open(&account, job->client, &agent->state,
                                   &agent->settings, problem);
        if (result == ACME_DONE)
            result = try_challenges(agent, job, problem);
        if (result != ACME_REFUSED || !acme_account_is_lost(problem)) {
            acme_account_close(&account);
            return result;
        }
        acme_account_forget(&account, job->client, &agent->state);
        acme_account_close(&account);
    }
    return result;
}

static enum acme_result try_directory(struct acme_agent *agent,
                                      const char *directory,
                                      struct acme_job *job,
                                      struct acme_problem *problem)
{
    struct acme_client client;
    enum acme_result result;

    *problem = (struct acme_problem){.wait_s = -1};
    if (!acme_client_open(&client, directory, agent->settings.ca))
        return acme_tell(problem, ACME_FAILED, "out of memory");
    job->client = &client;
    result = acme_client_begin(&client, problem);
    if (result == ACME_DONE)
        result = try_account(agent, job, problem);
    job->client = NULL;
    acme_client_close(&client);
    return result;
}

/* --- Messages ------------------------------------------------------------ */

static void tell_done(const struct acme_agent *agent,
                      const struct managed_certificate *certificate)
{
    struct acme_standing standing;
    char storage[DATE_MAX];
    struct buf date;

    acme_standing_look(&agent->state, certificate, time(NULL), &standing);
    buf_init(&date, storage, sizeof(storage), sizeof(storage));
    date_put_rfc3339(&date, standing.ends_at, 'T');
    log_notice("acme: certificate for %s (%zu name%s), good until %.*s, by %s",
               certificate->names.items[0], certificate->names.count,
               certificate->names.count == 1 ? "" : "s", (int)date.len,
               date.data, standing.record.directory);
}

static void tell_failed(const struct managed_certificate *certificate,
                        const struct acme_record *record, int64_t now_s)
{
    log_error("acme: no certificate for %s: %s; next try in %lld s",
              certificate->names.items[0], record->error,
              (long long)(record->next_s - now_s));
}

/* Writes the certificate's state to a file, for the server to show. Errors are
 * ignored here: other writes to the same disk report them. */
static void tell_server(struct acme_agent *agent,
                        const struct managed_certificate *certificate,
                        const struct acme_standing *standing)
{
    struct managed_told told = {.next_at = standing->due_at,
                                .failures = standing->record.failures};
    char name[NAME_MAX + 1];
    struct small_file before;
    struct buf text;
    bool is_same = false;

    snprintf(told.error, sizeof(told.error), "%.*s", MANAGED_TOLD_ERROR_MAX,
             standing->record.error);
    managed_told_name(certificate, name);
    buf_init(&text, NULL, 0, MANAGED_TOLD_BYTES_MAX);
    managed_told_put(&told, &text);
    if (acme_state_read(&agent->state, ACME_FOLDER_LIVE, name, &before) == 0) {
        is_same = bytes_eq(buf_bytes(&text),
                           (struct bytes){before.text, before.len});
        small_file_fini(&before);
    }
    if (!is_same && !text.failed &&
        acme_state_write(&agent->state, ACME_FOLDER_LIVE, name,
                         buf_bytes(&text)) == 0 &&
        agent->on_change)
        agent->on_change(agent->context);
    buf_fini(&text);
}

/* --- Turns --------------------------------------------------------------- */

static void renew(struct acme_agent *agent,
                  const struct managed_certificate *certificate,
                  struct acme_standing *standing)
{
    const struct texts *directories = &agent->settings.directories;
    struct acme_job job = {.state = &agent->state,
                           .settings = &agent->settings,
                           .hook = &agent->hook,
                           .certificate = certificate,
                           .record = &standing->record};
    struct acme_problem problem = {.wait_s = -1};
    enum acme_result result = ACME_FAILED;

    memcpy(job.replaces, standing->id, sizeof(job.replaces));
    for (size_t i = 0; i < directories->count && result != ACME_DONE; i++) {
        if (strcmp(standing->record.directory, directories->items[i]) != 0)
            job.replaces[0] = '\0'; /* the old certificate has another issuer */
        result = try_directory(agent, directories->items[i], &job, &problem);
        if (result != ACME_DONE)
            log_info("acme: %s by %s: %s", certificate->names.items[0],
                     directories->items[i], problem.text);
    }
    if (result == ACME_DONE) {
        tell_done(agent, certificate);
        if (agent->on_change)
            agent->on_change(agent->context);
        return;
    }
    acme_record_fail(&standing->record, problem.text, time(NULL),
                     agent->settings.retry_ms, problem.wait_s, any_chance());
    if (acme_order_save(&agent->state, certificate->name, &standing->record) !=
        0)
        log_error("acme: '%s' cannot be written to", agent->state.path);
    tell_failed(certificate, &standing->record, time(NULL));
}

/* Tidies up after an order that was completed just before the process was
 * killed. */
static void tidy(struct acme_agent *agent,
                 const struct managed_certificate *certificate,
                 struct acme_standing *standing)
{
    struct acme_record *record = &standing->record;

    if (record->order[0] == '\0')
        return;
    record->order[0] = '\0';
    (void)!acme_order_save(&agent->state, certificate->name, record);
}

/* Asks the authority when to renew, which may be earlier than planned. */
static void look_for_window(struct acme_agent *agent,
                            const struct managed_certificate *certificate,
                            struct acme_standing *standing)
{
    struct acme_record *record = &standing->record;
    int64_t now_s = time(NULL);
    struct acme_problem problem = {.wait_s = -1};
    struct acme_client client;

    if (standing->id[0] == '\0' || record->directory[0] == '\0' ||
        record->look_s > now_s)
        return;
    record->look_s = now_s + ACME_LOOK_S;
    if (acme_client_open(&client, record->directory, agent->settings.ca)) {
        if (acme_client_begin(&client, &problem) == ACME_DONE)
            acme_renewal_look(&client, standing->id, record, now_s);
        acme_client_close(&client);
    }
    (void)!acme_order_save(&agent->state, certificate->name, record);
    acme_standing_look(&agent->state, certificate, now_s, standing);
}

/* Logs once if a certificate begins in the future. This means that the
 * machine's clock is slow, and that certificates expire sooner than it says. */
static void tell_clock(struct acme_agent *agent,
                       const struct managed_certificate *certificate,
                       const struct acme_standing *standing, int64_t now_s)
{
    bool is_early = standing->begins_at > now_s + DAY_S;

    if (is_early && !agent->has_told_clock)
        log_error("acme: the certificate of %s counts from %lld days hence on: "
                  "this machine's clock is wrong, and nothing is renewed in "
                  "time until it is right",
                  certificate->names.items[0],
                  (long long)((standing->begins_at - now_s) / DAY_S));
    agent->has_told_clock |= is_early;
}

static void mark(struct acme_agent *agent, size_t number)
{
    struct acme_seen *seen = &agent->seen[number];
    struct stat st = {0};

    (void)!stat(agent->options->managed[number].path, &st);
    seen->inode = st.st_ino;
    seen->bytes = (uint64_t)st.st_size;
    seen->changed = st.st_mtim;
}

static void see_to(struct acme_agent *agent, size_t number)
{
    const struct managed_certificate *certificate =
        &agent->options->managed[number];
    struct acme_standing standing;
    int64_t now_s = time(NULL);

    acme_standing_look(&agent->state, certificate, now_s, &standing);
    if (standing.is_good && standing.due_at > now_s)
        look_for_window(agent, certificate, &standing);
    if (standing.due_at <= now_s) {
        renew(agent, certificate, &standing);
        acme_standing_look(&agent->state, certificate, now_s, &standing);
        if (standing.due_at < now_s + agent->settings.retry_ms / 1000)
            standing.due_at = now_s + agent->settings.retry_ms / 1000;
    } else if (standing.is_good) {
        tidy(agent, certificate, &standing);
    }
    tell_server(agent, certificate, &standing);
    tell_clock(agent, certificate, &standing, now_s);
    mark(agent, number);
    agent->seen[number].has_failed = !standing.is_good ||
                                     standing.record.failures > 0;
    agent->seen[number].due_s = standing.due_at;
    if (standing.is_good && standing.id[0] != '\0' &&
        standing.record.look_s < standing.due_at)
        agent->seen[number].due_s = standing.record.look_s;
}

bool acme_agent_is_well(const struct acme_agent *agent)
{
    for (size_t i = 0; i < agent->options->managed_count; i++)
        if (agent->seen[i].has_failed)
            return false;
    return true;
}

static bool take_lock(struct acme_agent *agent)
{
    int err = acme_state_lock(&agent->state, time(NULL));

    if (err == 0) {
        if (!agent->has_lock)
            acme_state_sweep(&agent->state);
        agent->has_lock = true;
        agent->has_told = false;
        return true;
    }
    agent->has_lock = false;
    if (!agent->has_told && err == -EAGAIN)
        log_info("acme: another process is at work in '%s'", agent->state.path);
    else if (!agent->has_told)
        log_error("acme: '%s/lock': %s", agent->state.path, strerror(-err));
    agent->has_told = true;
    return false;
}

/* Returns true if the certificate's file is not the one that the agent last
 * saw, and a new certificate is due. The file may have been damaged, or removed
 * after a revocation. */
static bool is_other(const struct acme_agent *agent, size_t number)
{
    const struct acme_seen *seen = &agent->seen[number];
    struct acme_standing standing;
    struct stat st = {0};

    if (stat(agent->options->managed[number].path, &st) == 0 &&
        st.st_ino == seen->inode && (uint64_t)st.st_size == seen->bytes &&
        st.st_mtim.tv_sec == seen->changed.tv_sec &&
        st.st_mtim.tv_nsec == seen->changed.tv_nsec)
        return false;
    acme_standing_look(&agent->state, &agent->options->managed[number],
                       time(NULL), &standing);
    return standing.due_at <= time(NULL);
}

/* Makes the next turn check all certificates again. */
static void forget_seen(struct acme_agent *agent)
{
    for (size_t i = 0; i < agent->options->managed_count; i++)
        agent->seen[i].due_s = 0;
}

/* Makes this turn check all certificates if the clock was set back. The times
 * at which work is due were set by the wrong clock, and may be far away now. */
static void heed_clock(struct acme_agent *agent, int64_t now_s)
{
    if (now_s < agent->turn_s)
        forget_seen(agent);
    agent->turn_s = now_s;
}

int64_t acme_agent_turn(struct acme_agent *agent)
{
    int64_t pause_s = TURN_S;

    if (!acme_state_is_there(&agent->state)) {
        log_error("acme: '%s' is not there any more, or is another folder now",
                  agent->state.path);
        return -1;
    }
    if (!take_lock(agent)) {
        forget_seen(agent); /* another process may change the files meanwhile */
        return WAIT_LOCK_S;
    }
    heed_clock(agent, time(NULL));
    for (size_t i = 0; i < agent->options->managed_count; i++) {
        int64_t now_s = time(NULL);

        if (is_other(agent, i) || agent->seen[i].due_s <= now_s ||
            agent->seen[i].due_s > now_s + 366LL * DAY_S)
            see_to(agent, i);
        if (agent->seen[i].due_s - now_s < pause_s)
            pause_s = agent->seen[i].due_s - now_s;
    }
    return pause_s > 0 ? pause_s : 1;
}

int acme_agent_open(struct acme_agent *agent, const struct options *options)
{
    char fault[ACME_STATE_FAULT_MAX];
    int err;

    *agent = (struct acme_agent){.options = options};
    agent->settings = acme_settings_of(options, agent->challenges);
    err = acme_state_open(&agent->state, options->acme_folder, fault);
    if (err != 0) {
        log_error("acme: %s", fault);
        return err;
    }
    agent->seen = calloc(options->managed_count, sizeof(*agent->seen));
    err = agent->seen ? acme_hook_open(&agent->hook, options->acme_dns_command)
                      : -ENOMEM;
    if (err == 0)
        return 0;
    log_error("acme: %s", strerror(-err));
    acme_state_close(&agent->state);
    free(agent->seen);
    return err;
}

void acme_agent_close(struct acme_agent *agent)
{
    acme_hook_close(&agent->hook);
    acme_state_close(&agent->state);
    free(agent->seen);
}
