#include "io/tls/tls_record.h"

#include <string.h>

#include "suite.h"

/* RFC 8448 3: what a server and its client send in a simple connection. */
static const char server_secret[] = "a11af9f05531f856ad47116b45a95032"
                                    "8204b4f44bfb6b3a4b4f1f3fcb631643";
static const char client_secret[] = "9e40646ce79a7f9dc05af8889bce6552"
                                    "875afa0b06df0087f792ebb7c17504a5";

static struct tls_suite suites[TLS_SUITE_COUNT];

static struct bytes unhex(const char *text, char *out)
{
    size_t len = strlen(text) / 2;

    for (size_t i = 0; i < len; i++) {
        unsigned byte;

        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        out[i] = (char)byte;
    }
    return (struct bytes){out, len};
}

static void begin(struct tls_direction *direction, const char *secret,
                  bool seals)
{
    char bytes[TLS_SECRET_MAX];

    assert_true(tls_direction_init(direction, &suites[0], unhex(secret, bytes),
                                   seals));
}

/* The fifty bytes of data that either sends are 0, 1, 2 ... */
static void fill(char *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (char)i;
}

TEST(a_server_s_record_is_that_of_rfc_8448)
{
    static const char expected[] =
        "17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30e"
        "faf97d90e6dffc602dcb501a59a8fcc49c4bf2e5f0a21c0047c2abf332540dd032e1"
        "67c2955d";
    char record[100], bytes[100], payload[50];
    struct tls_direction out;
    struct bytes wanted = unhex(expected, bytes);

    fill(payload, sizeof(payload));
    begin(&out, server_secret, true);
    out.sequence = 1; /* a ticket was the first */
    assert_int_equal(tls_record_seal(&out, TLS_CONTENT_DATA, payload, 50,
                                     record),
                     wanted.len);
    assert_memory_equal(record, wanted.data, wanted.len);
    assert_int_equal(out.sequence, 2);
    tls_direction_fini(&out);
}

TEST(a_client_s_record_is_that_of_rfc_8448)
{
    static const char sent[] =
        "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b98"
        "19a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21"
        "694915e4";
    char bytes[100], payload[50];
    struct tls_direction in;
    struct bytes record = unhex(sent, bytes);
    struct bytes opened;
    enum tls_content type;

    fill(payload, sizeof(payload));
    begin(&in, client_secret, false);
    assert_int_equal(tls_record_length((struct bytes){bytes, 4}), 0);
    assert_int_equal(tls_record_length(record), record.len);
    assert_int_equal(tls_record_open(&in, bytes, record.len, &type, &opened),
                     TLS_ALERT_NONE);
    assert_int_equal(type, TLS_CONTENT_DATA);
    assert_int_equal(opened.len, 50);
    assert_memory_equal(opened.data, payload, 50);
    tls_direction_fini(&in);
}

static const char secret_48[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "202122232425262728292a2b2c2d2e2f";

static void begin_pair(size_t number, struct tls_direction *out,
                       struct tls_direction *in)
{
    char bytes[TLS_SECRET_MAX];
    struct bytes secret = unhex(secret_48, bytes);

    secret.len = suites[number].secret_bytes;
    assert_true(tls_direction_init(out, &suites[number], secret, true));
    assert_true(tls_direction_init(in, &suites[number], secret, false));
}

TEST(what_is_sealed_is_opened_whatever_its_length_and_key)
{
    static const size_t lengths[] = {0,    1,    15,    16,   17,
                                     1000, 4096, 16383, 16384};
    static char payload[TLS_RECORD_BYTES];
    static char record[TLS_RECORD_BYTES + TLS_RECORD_SEALED];

    memset(payload, 'x', sizeof(payload));
    for (size_t number = 0; number < 3; number++) {
        struct tls_direction out, in;

        begin_pair(number, &out, &in);
        for (size_t i = 0; i < 3 * sizeof(lengths) / sizeof(*lengths); i++) {
            size_t len = lengths[i % (sizeof(lengths) / sizeof(*lengths))];
            size_t sealed = tls_record_seal(&out, TLS_CONTENT_HANDSHAKE,
                                            payload, len, record);
            enum tls_content type;
            struct bytes opened;

            assert_int_equal(sealed, len + TLS_RECORD_SEALED);
            assert_int_equal(tls_record_open(&in, record, sealed, &type,
                                             &opened),
                             TLS_ALERT_NONE);
            assert_int_equal(type, TLS_CONTENT_HANDSHAKE);
            assert_int_equal(opened.len, len);
            assert_memory_equal(opened.data, payload, len);
            if (i % 5 == 4) {
                assert_true(tls_direction_update(&out));
                assert_true(tls_direction_update(&in));
                assert_int_equal(out.sequence, 0);
            }
        }
        tls_direction_fini(&out);
        tls_direction_fini(&in);
    }
}

TEST(a_secret_of_another_length_is_none)
{
    struct tls_direction direction;
    char bytes[TLS_SECRET_MAX];
    struct bytes secret = unhex(secret_48, bytes);

    assert_false(tls_direction_init(&direction, &suites[0], secret, true));
    assert_null(direction.cipher);
}

/* --- Faults -------------------------------------------------------------- */

TEST(any_changed_bit_is_noticed)
{
    enum { LONGEST = 31 }; /* the first bit of the length */
    char sealed[10 + TLS_RECORD_SEALED];
    struct tls_direction out, in;

    begin_pair(0, &out, &in);
    assert_int_equal(tls_record_seal(&out, TLS_CONTENT_DATA, "0123456789", 10,
                                     sealed),
                     sizeof(sealed));
    for (size_t bit = 0; bit < 8 * sizeof(sealed); bit++) {
        char record[sizeof(sealed)];
        enum tls_content type;
        struct bytes opened;

        memcpy(record, sealed, sizeof(sealed));
        record[bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(tls_record_open(&in, record, sizeof(record), &type,
                                         &opened),
                         bit < 8          ? TLS_ALERT_UNEXPECTED_MESSAGE
                         : bit == LONGEST ? TLS_ALERT_RECORD_OVERFLOW
                                          : TLS_ALERT_BAD_RECORD_MAC);
        assert_int_equal(in.sequence, 0);
    }
    tls_direction_fini(&out);
    tls_direction_fini(&in);
}

/* Of a record that comes twice, or in another's place, the nonce is wrong. */
TEST(a_record_is_opened_once_and_in_order)
{
    char first[1 + TLS_RECORD_SEALED], again[sizeof(first)],
        second[sizeof(first)], early[sizeof(first)];
    struct tls_direction out, in;
    enum tls_content type;
    struct bytes opened;

    begin_pair(2, &out, &in);
    assert_true(tls_record_seal(&out, TLS_CONTENT_DATA, "1", 1, first) > 0);
    assert_true(tls_record_seal(&out, TLS_CONTENT_DATA, "2", 1, second) > 0);
    memcpy(again, first, sizeof(first));
    memcpy(early, second, sizeof(second));
    assert_int_equal(tls_record_open(&in, early, sizeof(early), &type, &opened),
                     TLS_ALERT_BAD_RECORD_MAC);
    assert_int_equal(tls_record_open(&in, first, sizeof(first), &type, &opened),
                     TLS_ALERT_NONE);
    assert_int_equal(tls_record_open(&in, again, sizeof(again), &type, &opened),
                     TLS_ALERT_BAD_RECORD_MAC);
    assert_int_equal(tls_record_open(&in, second, sizeof(second), &type,
                                     &opened),
                     TLS_ALERT_NONE);
    tls_direction_fini(&out);
    tls_direction_fini(&in);
}

/* What is sealed here has its type and zeros in the payload already. */
static enum tls_alert open_inner(const char *inner, size_t len,
                                 enum tls_content *type_out,
                                 struct bytes *payload_out)
{
    static char record[TLS_RECORD_BYTES + 1000];
    static struct tls_direction out, in;
    enum tls_alert alert;
    size_t sealed;

    begin_pair(1, &out, &in);
    /* Its own type comes as the last byte. */
    sealed = tls_record_seal(&out,
                             (enum tls_content)(unsigned char)inner[len - 1],
                             inner, len - 1, record);
    alert = tls_record_open(&in, record, sealed, type_out, payload_out);
    tls_direction_fini(&out);
    tls_direction_fini(&in);
    return alert;
}

TEST(padding_is_taken_off_and_a_record_of_it_alone_is_none)
{
    static char large[TLS_RECORD_BYTES + 2];
    static const char padded[] = "abc\x17\0\0\0"; /* and the one of C */
    enum tls_content type;
    struct bytes payload;

    assert_int_equal(open_inner(padded, sizeof(padded), &type, &payload),
                     TLS_ALERT_NONE);
    assert_int_equal(type, TLS_CONTENT_DATA);
    assert_int_equal(payload.len, 3);
    assert_int_equal(open_inner("\0\0\0", 4, &type, &payload),
                     TLS_ALERT_UNEXPECTED_MESSAGE);
    large[TLS_RECORD_BYTES] = TLS_CONTENT_DATA;
    assert_int_equal(open_inner(large, TLS_RECORD_BYTES + 1, &type, &payload),
                     TLS_ALERT_NONE);
    assert_int_equal(payload.len, TLS_RECORD_BYTES);
    large[TLS_RECORD_BYTES + 1] = TLS_CONTENT_DATA;
    assert_int_equal(open_inner(large, TLS_RECORD_BYTES + 2, &type, &payload),
                     TLS_ALERT_RECORD_OVERFLOW);
}

TEST(what_cannot_be_a_record_is_refused_before_it_is_opened)
{
    static char record[TLS_RECORD_BYTES + 1000] = "\x17\x03\x03";
    struct tls_direction out, in;
    enum tls_content type;
    struct bytes payload;

    begin_pair(0, &out, &in);
    assert_int_equal(tls_record_open(&in, record, TLS_RECORD_SEALED - 1, &type,
                                     &payload),
                     TLS_ALERT_BAD_RECORD_MAC);
    assert_int_equal(tls_record_open(&in, record,
                                     TLS_RECORD_HEAD + TLS_RECORD_BYTES +
                                         TLS_RECORD_PADDING + 1,
                                     &type, &payload),
                     TLS_ALERT_RECORD_OVERFLOW);
    record[0] = TLS_CONTENT_CHANGE; /* in clear text, as in a handshake */
    assert_int_equal(tls_record_open(&in, record, 100, &type, &payload),
                     TLS_ALERT_UNEXPECTED_MESSAGE);
    tls_direction_fini(&out);
    tls_direction_fini(&in);
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        if (!tls_suite_init(&suites[i], (uint16_t)(TLS_SUITE_FIRST + i)))
            return -1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        tls_suite_fini(&suites[i]);
    return 0;
}

SUITE(.begin = set_up, .end = tear_down);
