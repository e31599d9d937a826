#include "backend/kv_redis_priv.h"

enum {
    REDIRECTS_MAX = 8,
    PAUSES_MAX = 3,
    PAUSE_MS = 100,
    LOG_MS = 10000,
    COMMAND_KEPT_BYTES = 256 << 10
};

/* What Redis itself takes of one argument. */
#define COMMAND_BYTES_MAX ((size_t)512 << 20)

/* --- The end -------------------------------------------------------------- */

static void leave(struct kv_redis_call *call)
{
    struct kv_redis_desk *desk = call->desk;

    deadline_drop(&desk->wheel, &call->deadline);
    list_drop(&call->request.link);
    desk->calls--;
    desk->bytes -= call->bytes;
    call->bytes = 0;
    if (call->outcome == KV_TIMEOUT)
        kv_redis_add(&desk->store->timeouts);
    if (call->outcome == KV_UNREACHABLE)
        kv_redis_add(&desk->store->unreachable);
}

static void end(struct kv_redis_call *call, enum kv_outcome outcome,
                const struct kv_reply *reply)
{
    call->outcome = outcome;
    leave(call);
    call->on_end(call, reply);
}

/* --- Sending -------------------------------------------------------------- */

static bool write_command(struct kv_redis_call *call, const struct kv_link *to)
{
    struct kv_redis_desk *desk = call->desk;
    struct buf *out = &desk->command;

    if (out->failed || out->capacity > COMMAND_KEPT_BYTES)
        buf_fini(out);
    if (!out->data || out->failed)
        buf_init(out, NULL, 0, COMMAND_BYTES_MAX);
    out->len = 0;
    for (unsigned i = 0; i < KV_SCRIPTS; i++)
        call->scripts[i] = kv_link_script(to, (enum kv_script)i);
    call->put(call, out);
    buf_put(out, (struct bytes){"", 1}); /* hiredis looks at it as at a text */
    out->len -= !out->failed;
    desk->bytes += out->len - call->bytes; /* it may be sent again */
    call->bytes = out->len;
    return !out->failed;
}

/* True: it is over, as outcome says. */
static bool submit(struct kv_redis_call *call, struct kv_link *link)
{
    struct kv_redis_desk *desk = call->desk;
    bool asking = call->is_redirected;

    if (!write_command(call, link) ||
        (desk->bytes > desk->store->bytes_max && desk->calls > 1)) {
        call->outcome = KV_BUSY;
        return true;
    }
    call->is_redirected = false;
    call->sent_to = link;
    list_drop(&call->request.link);
    deadline_set(&desk->wheel, &call->deadline, call->until_ms);
    kv_redis_add(&desk->store->calls);
    if (kv_link_send(link, &call->request, buf_bytes(&desk->command), asking))
        return false;
    call->outcome = KV_UNREACHABLE;
    return true;
}

/* To where it belongs, or to wait until that is known. True: it is over. */
static bool place(struct kv_redis_call *call)
{
    struct kv_redis_desk *desk = call->desk;
    bool may_come = false;
    struct kv_link *link = call->only_at;

    call->sent_to = NULL;
    if (!link && call->is_redirected)
        link = kv_redis_route_to(desk, &call->redirect);
    else if (!link)
        link = kv_redis_route_find(desk, call->partition, &may_come);
    if (link && call->crosses && desk->route.mode == KV_REDIS_CLUSTER) {
        call->outcome = KV_CROSSED;
        return true;
    }
    if (link && kv_link_state(link) == KV_LINK_UP)
        return submit(call, link);
    if (may_come || (link && kv_link_state(link) == KV_LINK_OPENING)) {
        list_drop(&call->request.link);
        list_put_last(&desk->waiting, &call->request.link);
        deadline_set(&desk->wheel, &call->deadline, call->until_ms);
        return false;
    }
    call->outcome = KV_UNREACHABLE;
    if (!call->only_at)
        kv_redis_route_refresh(desk);
    return true;
}

static void place_again(struct kv_redis_call *call)
{
    if (place(call))
        end(call, call->outcome, NULL);
}

bool kv_redis_call_start(struct kv_redis_desk *desk, struct kv_redis_call *call)
{
    call->desk = desk;
    call->outcome = KV_BUSY;
    if (desk->calls >= desk->store->calls_max)
        return true;
    list_init(&call->request.link);
    deadline_init(&call->deadline);
    call->until_ms = desk->now->mono_ms + desk->store->timeout_ms;
    call->was_lost = call->is_redirected = call->has_no_script = false;
    call->redirects = call->pauses = 0;
    call->bytes = 0;
    desk->calls++;
    if (!place(call))
        return false;
    leave(call);
    return true;
}

void kv_redis_place_waiting(struct kv_redis_desk *desk)
{
    struct list waiting;

    list_init(&waiting);
    if (list_is_empty(&desk->waiting))
        return;
    list_put_before(&desk->waiting, &waiting);
    list_drop(&desk->waiting);
    while (!list_is_empty(&waiting)) {
        struct kv_redis_call *call =
            OWNER_OF(waiting.next, struct kv_redis_call, request.link);

        list_drop(&call->request.link);
        place_again(call);
    }
}

/* --- Refusals ------------------------------------------------------------- */

static bool begins(struct bytes text, const char *word)
{
    size_t len = strlen(word);

    return text.len >= len && memcmp(text.data, word, len) == 0;
}

/* Before 7, what a command says in a script stands in what that says. */
static struct bytes find_reason(struct bytes text)
{
    const char *at = begins(text, "ERR Error running script")
                         ? memmem(text.data, text.len, ": -", 3)
                         : NULL;

    return at ? bytes_between(at + 3, text.data + text.len) : text;
}

static void log_fault(struct kv_redis_desk *desk, struct bytes text)
{
    uint64_t held_back;

    if (log_limit_allows(&desk->log_limit, desk->now->mono_ms, LOG_MS,
                         &held_back))
        log_error("the key-value store at %s says: %.*s", desk->store->label,
                  (int)(text.len < 300 ? text.len : 300), text.data);
}

/* It was refused for now. */
static void pause_call(struct kv_redis_call *call)
{
    struct kv_redis_desk *desk = call->desk;
    uint64_t again_ms = desk->now->mono_ms + PAUSE_MS;

    if (again_ms >= call->until_ms || ++call->pauses > PAUSES_MAX) {
        end(call, KV_UNREACHABLE, NULL);
        return;
    }
    kv_redis_add(&desk->store->redirected);
    call->sent_to = NULL;
    /* Sooner than what is set, or it would come too late. */
    deadline_drop(&desk->wheel, &call->deadline);
    deadline_set(&desk->wheel, &call->deadline, again_ms);
}

static void redirect(struct kv_redis_call *call, struct bytes text, bool ask)
{
    struct kv_redis_desk *desk = call->desk;
    struct address node;

    if (!kv_redis_read_redirect(text, kv_link_address(call->sent_to), &node)) {
        kv_redis_route_refresh(desk);
        pause_call(call);
        return;
    }
    if (++call->redirects > REDIRECTS_MAX) {
        end(call, KV_UNREACHABLE, NULL);
        return;
    }
    kv_redis_add(&desk->store->redirected);
    call->is_redirected = ask;
    if (ask)
        call->redirect = node;
    else
        kv_redis_route_move(desk, call->partition, &node);
    place_again(call);
}

/* All that is not the last word certainly has not been done. */
static void take_fault(struct kv_redis_call *call, const struct kv_reply *reply)
{
    static const char *const passing[] = {"TRYAGAIN", "LOADING", "BUSY "};
    static const char *const unfit[] = {"CLUSTERDOWN", "READONLY",
                                        "MASTERDOWN"};
    static const char *const later[] = {"NOREPLICAS", "MISCONF"};
    struct kv_redis_desk *desk = call->desk;
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
                kv_redis_route_refresh(desk);
            pause_call(call);
            return;
        }
    }
    if (begins(text, "OOM")) {
        end(call, KV_FULL, NULL);
        return;
    }
    log_fault(desk, text);
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        if (begins(text, later[i])) {
            end(call, KV_UNREACHABLE, NULL);
            return;
        }
    }
    end(call, KV_ERROR, reply);
}

/* --- What happens to it --------------------------------------------------- */

static struct kv_redis_call *call_of(struct kv_link_request *request)
{
    return OWNER_OF(request, struct kv_redis_call, request);
}

void kv_redis_on_answer(struct kv_link_request *request,
                        const struct kv_reply *reply)
{
    struct kv_redis_call *call = call_of(request);

    if (kv_reply_kind(reply) == KV_REPLY_FAULT)
        take_fault(call, reply);
    else
        end(call, KV_FOUND, reply);
}

void kv_redis_on_return(struct kv_link_request *request, bool may_have_run)
{
    struct kv_redis_call *call = call_of(request);
    struct kv_redis_desk *desk = call->desk;
    bool is_late = desk->now->mono_ms >= call->until_ms;

    if (call->only_at) {
        end(call, KV_UNREACHABLE, NULL);
    } else if (is_late || (may_have_run && !call->may_repeat)) {
        end(call, may_have_run ? KV_TIMEOUT : KV_UNREACHABLE, NULL);
    } else if (call->was_lost) {
        end(call, KV_UNREACHABLE, NULL);
    } else {
        call->was_lost = true;
        kv_redis_add(&desk->store->repeated);
        place_again(call);
    }
}

/* One that got no answer has its link taken down: it is the oldest there, and
 * what comes behind it would be later still. */
void kv_redis_on_deadline(struct kv_redis_desk *desk, struct deadline *deadline)
{
    struct kv_redis_call *call = OWNER_OF(deadline, struct kv_redis_call,
                                          deadline);

    if (call->sent_to)
        kv_link_lose(call->sent_to, "it does not answer");
    else if (desk->now->mono_ms >= call->until_ms)
        end(call, KV_UNREACHABLE, NULL);
    else
        place_again(call);
}

/* --- For put() ------------------------------------------------------------- */

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
