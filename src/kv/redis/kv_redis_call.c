#include "kv/redis/kv_redis_priv.h"

enum {
    REDIRECTS_MAX = 8,
    PAUSES_MAX = 3,
    PAUSE_MS = 100,
    LOG_MS = 10000,
    COMMAND_KEPT_BYTES = 256 << 10
};

/* Redis's own limit for an argument. */
#define COMMAND_BYTES_MAX ((size_t)512 << 20)

/* --- The end -------------------------------------------------------------- */

static void leave(struct kv_redis_call *call)
{
    struct kv_redis_client *client = call->client;

    deadline_drop(&client->wheel, &call->deadline);
    list_drop(&call->request.list_node);
    client->calls--;
    client->bytes -= call->bytes;
    call->bytes = 0;
    if (call->outcome == KV_TIMEOUT)
        kv_redis_add(&client->store->timeouts);
    if (call->outcome == KV_UNREACHABLE)
        kv_redis_add(&client->store->unreachable);
}

static void end(struct kv_redis_call *call, enum kv_outcome outcome,
                const struct kv_reply *reply)
{
    call->outcome = outcome;
    leave(call);
    call->on_end(call, reply);
}

/* --- Sending -------------------------------------------------------------- */

static bool write_command(struct kv_redis_call *call,
                          const struct kv_connection *to)
{
    struct kv_redis_client *client = call->client;
    struct buf *out = &client->command;

    if (out->failed || out->capacity > COMMAND_KEPT_BYTES)
        buf_fini(out);
    if (!out->data || out->failed)
        buf_init(out, NULL, 0, COMMAND_BYTES_MAX);
    out->len = 0;
    for (unsigned i = 0; i < KV_SCRIPTS; i++)
        call->scripts[i] = kv_connection_script(to, (enum kv_script)i);
    call->put(call, out);
    /* hiredis needs a NUL behind the command. */
    buf_put(out, (struct bytes){"", 1});
    out->len -= !out->failed;
    /* A command that is sent again counts only once. */
    client->bytes += out->len - call->bytes;
    call->bytes = out->len;
    return !out->failed;
}

/* Sends a call on the connection. Returns true if the call has ended already;
 * its outcome is then set. */
static bool submit(struct kv_redis_call *call, struct kv_connection *connection)
{
    struct kv_redis_client *client = call->client;
    bool asking = call->is_redirected;

    if (!write_command(call, connection) ||
        (client->bytes > client->store->bytes_max && client->calls > 1)) {
        call->outcome = KV_BUSY;
        return true;
    }
    call->is_redirected = false;
    call->sent_to = connection;
    list_drop(&call->request.list_node);
    deadline_set(&client->wheel, &call->deadline, call->until_ms);
    kv_redis_add(&client->store->calls);
    if (kv_connection_send(connection, &call->request,
                           buf_bytes(&client->command), asking))
        return false;
    call->outcome = KV_UNREACHABLE;
    return true;
}

/* Sends the call to the node that has the call's partition, or lets the call
 * wait until the node is known. Returns true if the call has ended already. */
static bool place(struct kv_redis_call *call)
{
    struct kv_redis_client *client = call->client;
    bool may_come = false;
    struct kv_connection *connection = call->only_at;

    call->sent_to = NULL;
    if (!connection && call->is_redirected)
        connection = kv_redis_route_to(client, &call->redirect);
    else if (!connection)
        connection = kv_redis_route_find(client, call->partition, &may_come);
    if (connection && call->crosses && client->route.mode == KV_REDIS_CLUSTER) {
        call->outcome = KV_CROSSED;
        return true;
    }
    if (connection && kv_connection_state(connection) == KV_CONNECTION_UP)
        return submit(call, connection);
    if (may_come || (connection && kv_connection_state(connection) ==
                                       KV_CONNECTION_OPENING)) {
        list_drop(&call->request.list_node);
        list_put_last(&client->waiting, &call->request.list_node);
        deadline_set(&client->wheel, &call->deadline, call->until_ms);
        return false;
    }
    call->outcome = KV_UNREACHABLE;
    if (!call->only_at)
        kv_redis_route_refresh(client);
    return true;
}

static void place_again(struct kv_redis_call *call)
{
    if (place(call))
        end(call, call->outcome, NULL);
}

bool kv_redis_call_start(struct kv_redis_client *client,
                         struct kv_redis_call *call)
{
    call->client = client;
    call->outcome = KV_BUSY;
    if (client->calls >= client->store->calls_max)
        return true;
    list_init(&call->request.list_node);
    deadline_init(&call->deadline);
    call->until_ms = client->now->mono_ms + client->store->timeout_ms;
    call->was_lost = call->is_redirected = call->has_no_script = false;
    call->redirects = call->pauses = 0;
    call->bytes = 0;
    client->calls++;
    if (!place(call))
        return false;
    leave(call);
    return true;
}

void kv_redis_place_waiting(struct kv_redis_client *client)
{
    struct list waiting;

    list_init(&waiting);
    if (list_is_empty(&client->waiting))
        return;
    list_put_before(&client->waiting, &waiting);
    list_drop(&client->waiting);
    while (!list_is_empty(&waiting)) {
        struct kv_redis_call *call =
            OWNER_OF(waiting.next, struct kv_redis_call, request.list_node);

        list_drop(&call->request.list_node);
        place_again(call);
    }
}

/* --- Refusals ------------------------------------------------------------- */

static bool begins(struct bytes text, const char *word)
{
    size_t len = strlen(word);

    return text.len >= len && memcmp(text.data, word, len) == 0;
}

/* Returns the part of an error text that says the reason. Before Redis 7, the
 * error of a command in a script is enclosed in the script's error. */
static struct bytes find_reason(struct bytes text)
{
    const char *at = begins(text, "ERR Error running script")
                         ? memmem(text.data, text.len, ": -", 3)
                         : NULL;

    return at ? bytes_between(at + 3, text.data + text.len) : text;
}

static void log_fault(struct kv_redis_client *client, struct bytes text)
{
    uint64_t held_back;

    if (log_limit_allows(&client->log_limit, client->now->mono_ms, LOG_MS,
                         &held_back))
        log_error("the key-value store at %s says: %.*s", client->store->label,
                  (int)(text.len < 300 ? text.len : 300), text.data);
}

/* Makes a call that was refused for the moment wait before the next try. */
static void pause_call(struct kv_redis_call *call)
{
    struct kv_redis_client *client = call->client;
    uint64_t again_ms = client->now->mono_ms + PAUSE_MS;

    if (again_ms >= call->until_ms || ++call->pauses > PAUSES_MAX) {
        end(call, KV_UNREACHABLE, NULL);
        return;
    }
    kv_redis_add(&client->store->redirected);
    call->sent_to = NULL;
    /* call->deadline now ends the pause. The pause ends before the call's time
     * limit (until_ms), so one deadline is enough. */
    deadline_drop(&client->wheel, &call->deadline);
    deadline_set(&client->wheel, &call->deadline, again_ms);
}

static void redirect(struct kv_redis_call *call, struct bytes text, bool ask)
{
    struct kv_redis_client *client = call->client;
    struct address node;

    if (!kv_redis_read_redirect(text, kv_connection_address(call->sent_to),
                                &node)) {
        kv_redis_route_refresh(client);
        pause_call(call);
        return;
    }
    if (++call->redirects > REDIRECTS_MAX) {
        end(call, KV_UNREACHABLE, NULL);
        return;
    }
    kv_redis_add(&client->store->redirected);
    call->is_redirected = ask;
    if (ask)
        call->redirect = node;
    else
        kv_redis_route_move(client, call->partition, &node);
    place_again(call);
}

/* Handles a fault. A fault that is not final means that the node has done
 * nothing, so the call can be sent again. */
static void take_fault(struct kv_redis_call *call, const struct kv_reply *reply)
{
    static const char *const passing[] = {"TRYAGAIN", "LOADING", "BUSY "};
    static const char *const unfit[] = {"CLUSTERDOWN", "READONLY",
                                        "MASTERDOWN"};
    static const char *const later[] = {"NOREPLICAS", "MISCONF"};
    struct kv_redis_client *client = call->client;
    struct bytes text = find_reason(kv_reply_text(reply));

    if (call->only_at) {
        end(call, KV_ERROR, reply);
        return;
    }
    if (begins(text, "MOVED ") || begins(text, "ASK ")) {
        redirect(call, text, *text.data == 'A');
        return;
    }
    if (begins(text, "NOSCRIPT") && !call->has_no_script) {
        call->has_no_script = true;
        place_again(call);
        return;
    }
    for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++) {
        if (begins(text, passing[i]) || begins(text, unfit[i])) {
            if (begins(text, unfit[i]))
                kv_redis_route_refresh(client);
            pause_call(call);
            return;
        }
    }
    if (begins(text, "OOM")) {
        end(call, KV_FULL, NULL);
        return;
    }
    log_fault(client, text);
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        if (begins(text, later[i])) {
            end(call, KV_UNREACHABLE, NULL);
            return;
        }
    }
    end(call, KV_ERROR, reply);
}

/* --- What happens to it --------------------------------------------------- */

static struct kv_redis_call *call_of(struct kv_connection_request *request)
{
    return OWNER_OF(request, struct kv_redis_call, request);
}

void kv_redis_on_answer(struct kv_connection_request *request,
                        const struct kv_reply *reply)
{
    struct kv_redis_call *call = call_of(request);

    if (kv_reply_kind(reply) == KV_REPLY_FAULT)
        take_fault(call, reply);
    else
        end(call, KV_FOUND, reply);
}

void kv_redis_on_return(struct kv_connection_request *request,
                        bool may_have_run)
{
    struct kv_redis_call *call = call_of(request);
    struct kv_redis_client *client = call->client;
    bool is_late = client->now->mono_ms >= call->until_ms;

    if (call->only_at) {
        end(call, KV_UNREACHABLE, NULL);
    } else if (is_late || (may_have_run && !call->may_repeat)) {
        end(call, may_have_run ? KV_TIMEOUT : KV_UNREACHABLE, NULL);
    } else if (call->was_lost) {
        end(call, KV_UNREACHABLE, NULL);
    } else {
        call->was_lost = true;
        kv_redis_add(&client->store->repeated);
        place_again(call);
    }
}

/* Closes the connection of a call that was not answered in time. The call is
 * the oldest on its connection, so the calls behind it would be answered even
 * later. */
void kv_redis_on_deadline(struct kv_redis_client *client,
                          struct deadline *deadline)
{
    struct kv_redis_call *call = OWNER_OF(deadline, struct kv_redis_call,
                                          deadline);

    if (call->sent_to)
        kv_connection_lose(call->sent_to, "it does not answer");
    else if (client->now->mono_ms >= call->until_ms)
        end(call, KV_UNREACHABLE, NULL);
    else
        place_again(call);
}

/* --- For put() ----------------------------------------------------------- */

void kv_redis_put_script(const struct kv_redis_call *call, struct buf *out,
                         enum kv_script script, size_t keys, size_t arguments)
{
    kv_command_begin(out, 3 + keys + arguments);
    kv_command_put(out, call->has_no_script ? BYTES("EVAL") : BYTES("EVALSHA"));
    if (call->has_no_script)
        kv_command_put_script(out, script);
    else
        kv_command_put(out, call->scripts[script]);
    kv_command_put_number(out, keys);
}
