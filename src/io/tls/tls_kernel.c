#include "io/tls/tls_kernel.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The C library of Debian 12 does not define these names. */
#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

enum { SEQUENCE_BYTES = 8 };

static const char layer[] = "tls";

/* --- Whether the kernel has TLS ------------------------------------------ */

static pthread_once_t looked_once = PTHREAD_ONCE_INIT;
static bool is_there;

/* Finds out whether the kernel has its TLS layer, by asking for the layer on a
 * new socket: a kernel that has it complains that the socket is not
 * connected. */
static void look(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd == -1)
        return;
    is_there = setsockopt(fd, IPPROTO_TCP, TCP_ULP, layer, sizeof(layer)) ==
                   0 ||
               errno == ENOTCONN;
    close(fd);
}

bool tls_kernel_is_there(void)
{
    pthread_once(&looked_once, look);
    return is_there;
}

/* --- Keys ---------------------------------------------------------------- */

/* A key in the kernel's form. The first four bytes of AES-GCM's vector are the
 * salt; ChaCha20-Poly1305 has no salt. */
struct material {
    union {
        struct tls_crypto_info info;
        struct tls12_crypto_info_aes_gcm_128 aes_128;
        struct tls12_crypto_info_aes_gcm_256 aes_256;
        struct tls12_crypto_info_chacha20_poly1305 chacha20;
    } all;
    socklen_t len;
};

#define FILL_GCM(to, key, from, number)                                      \
    do {                                                                     \
        memcpy((to)->salt, (from)->iv, sizeof((to)->salt));                  \
        memcpy((to)->iv, (from)->iv + sizeof((to)->salt), sizeof((to)->iv)); \
        memcpy((to)->key, key, sizeof((to)->key));                           \
        memcpy((to)->rec_seq, number, sizeof((to)->rec_seq));                \
    } while (0)

static void fill(struct material *material, const struct tls_direction *out,
                 const unsigned char *key)
{
    unsigned char number[SEQUENCE_BYTES];

    for (int i = 0; i < SEQUENCE_BYTES; i++)
        number[SEQUENCE_BYTES - 1 - i] = (unsigned char)(out->sequence >>
                                                         8 * i);
    *material = (struct material){.all.info.version = TLS_1_3_VERSION};
    switch (out->suite->id - TLS_SUITE_FIRST) {
    case 0:
        material->all.info.cipher_type = TLS_CIPHER_AES_GCM_128;
        FILL_GCM(&material->all.aes_128, key, out, number);
        material->len = sizeof(material->all.aes_128);
        break;
    case 1:
        material->all.info.cipher_type = TLS_CIPHER_AES_GCM_256;
        FILL_GCM(&material->all.aes_256, key, out, number);
        material->len = sizeof(material->all.aes_256);
        break;
    default:
        material->all.info.cipher_type = TLS_CIPHER_CHACHA20_POLY1305;
        memcpy(material->all.chacha20.iv, out->iv, TLS_IV_BYTES);
        memcpy(material->all.chacha20.key, key,
               sizeof(material->all.chacha20.key));
        memcpy(material->all.chacha20.rec_seq, number, sizeof(number));
        material->len = sizeof(material->all.chacha20);
        break;
    }
}

bool tls_kernel_begin(int fd, const struct tls_direction *out)
{
    unsigned char key[TLS_KEY_MAX];
    struct material material;
    bool is_done;

    if (!tls_direction_find_key(out, key))
        return false;
    fill(&material, out, key);
    /* If the kernel takes the layer but no keys, the socket sends bytes
     * unchanged. */
    is_done = setsockopt(fd, IPPROTO_TCP, TCP_ULP, layer, sizeof(layer)) == 0 &&
              setsockopt(fd, SOL_TLS, TLS_TX, &material.all, material.len) == 0;
    OPENSSL_cleanse(&material, sizeof(material));
    OPENSSL_cleanse(key, sizeof(key));
    return is_done;
}

/* --- Records ------------------------------------------------------------- */

bool tls_kernel_say(int fd, enum tls_content type, const char *payload,
                    size_t len)
{
    union {
        char bytes[CMSG_SPACE(sizeof(unsigned char))];
        struct cmsghdr alignment;
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)payload, len};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_TLS;
    head->cmsg_type = TLS_SET_RECORD_TYPE;
    head->cmsg_len = CMSG_LEN(sizeof(unsigned char));
    *CMSG_DATA(head) = (unsigned char)type;
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)len;
}
