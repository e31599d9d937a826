#include "engine/proxy_preamble.h"

bool proxy_preamble_apply(struct session *session,
                          const struct proxy_protocol *proxy)
{
    struct address source = proxy->source;

    session->awaits_proxy = false;
    session->is_introduced = true;
    /* A loopback address that the proxy names belongs to the proxy's machine,
     * not to this machine. */
    if (address_is_local(&source) && !address_is_local(&session->peer))
        source = (struct address){.family = ADDRESS_UNKNOWN};
    return proxy->is_local ||
           session->context->hooks->on_introduced(session, &source);
}
