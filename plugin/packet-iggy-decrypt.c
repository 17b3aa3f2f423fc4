/* packet-iggy-decrypt.c
 * Encrypted payloads and user headers (messages.md 2.5): the SDK replaces each by nonce (12), ciphertext, tag (16).
 *
 * Nothing on the wire says so and nothing names the key; both ciphers authenticate, so a key that does not belong is noticed.
 * Clients that encrypt use AES-256-GCM, servers that encrypt a stream at rest AES-256-GCM-SIV: both are tried.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-decrypt.h"

#include <string.h>

#include <epan/prefs.h>
#include <epan/uat.h>

#include "packet-iggy-conversation.h"
#include "packet-iggy-names.h"

#ifdef IGGY_HAVE_GCRYPT
#include <wsutil/wsgcrypt.h>
#endif

static int hf_iggy_message_encrypted_payload = IGGY_UNREGISTERED;
static int hf_iggy_message_encrypted_headers = IGGY_UNREGISTERED;

#define KEY_LENGTH 32
#define NONCE_LENGTH 12
#define TAG_LENGTH 16

/* ---- the user table ---- */

typedef struct {
    char   *stream, *topic; /* name or id; empty: any */
    char   *key;            /* base64 or hexadecimal */
    uint8_t bytes[KEY_LENGTH];
} iggy_key_t;

static iggy_key_t *keys;
static unsigned    keys_count;

UAT_CSTRING_CB_DEF(keys, stream, iggy_key_t)
UAT_CSTRING_CB_DEF(keys, topic, iggy_key_t)
UAT_CSTRING_CB_DEF(keys, key, iggy_key_t)

static bool read_hexadecimal(const char *text, uint8_t *bytes)
{
    if (strlen(text) != 2 * KEY_LENGTH || strspn(text, "0123456789abcdefABCDEF") != 2 * KEY_LENGTH)
        return false;
    for (int i = 0; i < KEY_LENGTH; i++)
        bytes[i] = (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 | g_ascii_xdigit_value(text[2 * i + 1]));
    return true;
}

/* 32 bytes in hexadecimal (64 digits) or base64, which is how the SDK takes them. */
static bool read_key(const char *text, uint8_t *bytes)
{
    if (read_hexadecimal(text, bytes))
        return true;
    size_t length = 0;
    uint8_t *decoded = *text ? (uint8_t *)g_base64_decode(text, &length) : NULL;
    bool fits = decoded && length == KEY_LENGTH;
    if (fits)
        memcpy(bytes, decoded, KEY_LENGTH);
    g_free(decoded);
    return fits;
}

static void *key_copy(void *to, const void *from, size_t length _U_)
{
    iggy_key_t *copy = (iggy_key_t *)to;
    const iggy_key_t *key = (const iggy_key_t *)from;
    copy->stream = g_strdup(key->stream);
    copy->topic = g_strdup(key->topic);
    copy->key = g_strdup(key->key);
    memcpy(copy->bytes, key->bytes, KEY_LENGTH);
    return copy;
}

static iggy_bool key_update(void *record, char **error)
{
    iggy_key_t *key = (iggy_key_t *)record;
    if (read_key(key->key, key->bytes))
        return true;
    *error = g_strdup("A key is 32 bytes: 64 hexadecimal digits, or base64");
    return false;
}

static void key_free(void *record)
{
    iggy_key_t *key = (iggy_key_t *)record;
    g_free(key->stream);
    g_free(key->topic);
    g_free(key->key);
    memset(key->bytes, 0, KEY_LENGTH);
}

/* A fact of the frame, or of the request that it answers: names of a reply are completed only after its body. */
static const char *fact_text(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    bool number = fact == IGGY_FACT_STREAM_ID || fact == IGGY_FACT_TOPIC_ID;
    bool has = iggy_has(pdu->facts, fact);
    const iggy_kept_t *request = pdu->exchange ? (const iggy_kept_t *)pdu->exchange->request_facts : NULL;
    const iggy_kept_fact_t *kept = has ? NULL : iggy_kept_fact(request, fact);
    if (!has && !kept)
        return NULL;
    if (number)
        return wmem_strdup_printf(pdu->pinfo->pool, "%" PRIu64, has ? pdu->facts->at[fact].value : kept->value);
    return has ? pdu->facts->at[fact].text : kept->text;
}

/* Whether a row's stream or topic fits: empty fits all; a name is compared with a name, digits with an id, if it is known. */
static bool place_fits(const iggy_pdu_t *pdu, const char *wanted, iggy_fact_t id)
{
    if (!wanted || !*wanted)
        return true;
    const char *name = fact_text(pdu, (iggy_fact_t)(id + 1));
    if (name && strcmp(wanted, name) == 0)
        return true;
    bool digits = strspn(wanted, "0123456789") == strlen(wanted);
    const char *known = digits ? fact_text(pdu, id) : name;
    return !known || strcmp(wanted, known) == 0;
}

static bool key_fits(const iggy_pdu_t *pdu, const iggy_key_t *key)
{
    return place_fits(pdu, key->stream, IGGY_FACT_STREAM_ID) && place_fits(pdu, key->topic, IGGY_FACT_TOPIC_ID);
}

/* ---- the ciphers ---- */

#ifdef IGGY_HAVE_GCRYPT

static bool open_with(gcry_cipher_hd_t cipher, const uint8_t *key, const uint8_t *from, size_t length, uint8_t *to, bool siv)
{
    const uint8_t *tag = from + NONCE_LENGTH + length;
    if (gcry_cipher_setkey(cipher, key, KEY_LENGTH) || gcry_cipher_setiv(cipher, from, NONCE_LENGTH))
        return false;
#if GCRYPT_VERSION_NUMBER >= 0x010a00
    if (siv) /* the tag takes part in the decryption, and is checked by it */
        return !gcry_cipher_set_decryption_tag(cipher, tag, TAG_LENGTH) && !gcry_cipher_final(cipher) &&
               !gcry_cipher_decrypt(cipher, to, length, from + NONCE_LENGTH, length);
#else
    (void)siv;
#endif
    return !gcry_cipher_final(cipher) && !gcry_cipher_decrypt(cipher, to, length, from + NONCE_LENGTH, length) &&
           !gcry_cipher_checktag(cipher, tag, TAG_LENGTH);
}

static bool open_mode(int mode, const uint8_t *key, const uint8_t *from, size_t length, uint8_t *to, bool siv)
{
    gcry_cipher_hd_t cipher;
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_AES256, mode, 0))
        return false;
    bool opened = open_with(cipher, key, from, length, to, siv);
    gcry_cipher_close(cipher);
    return opened;
}

/* Open nonce, `length` bytes of ciphertext, tag at `from` into `to`. */
static bool open_region(const uint8_t *key, const uint8_t *from, size_t length, uint8_t *to)
{
    if (open_mode(GCRY_CIPHER_MODE_GCM, key, from, length, to, false))
        return true;
#if GCRYPT_VERSION_NUMBER >= 0x010a00
    return open_mode(GCRY_CIPHER_MODE_GCM_SIV, key, from, length, to, true);
#else
    return false;
#endif
}

#else

static bool open_region(const uint8_t *key _U_, const uint8_t *from _U_, size_t length _U_, uint8_t *to _U_) { return false; }

#endif

/* The clear bytes with the first key that opens the region; NULL if none does. */
static uint8_t *open_with_keys(iggy_pdu_t *pdu, tvbuff_t *tvb, int offset, size_t clear_length)
{
    const uint8_t *from = tvb_get_ptr(tvb, offset, (int)(clear_length + NONCE_LENGTH + TAG_LENGTH));
    uint8_t *clear = (uint8_t *)wmem_alloc(pdu->pinfo->pool, clear_length + 1);
    for (unsigned i = 0; i < keys_count; i++)
        if (key_fits(pdu, &keys[i]) && open_region(keys[i].bytes, from, clear_length, clear))
            return clear;
    return NULL;
}

tvbuff_t *iggy_decrypt(iggy_walk_t *walk, proto_tree *tree, int offset, int length, iggy_region_t region)
{
    static const char *const sources[] = { "Decrypted Iggy payload", "Decrypted Iggy user headers" };
    static int *const fields[] = { &hf_iggy_message_encrypted_payload, &hf_iggy_message_encrypted_headers };
    if (!keys_count || length < NONCE_LENGTH + TAG_LENGTH || walk->mode == IGGY_WALK_FIT)
        return NULL;
    int clear_length = length - NONCE_LENGTH - TAG_LENGTH;
    uint8_t *clear = open_with_keys(walk->pdu, walk->tvb, offset, (size_t)clear_length);
    if (!clear)
        return NULL;
    tvbuff_t *tvb = tvb_new_child_real_data(walk->tvb, clear, (unsigned)clear_length, clear_length);
    if (!iggy_walk_shows(walk))
        return tvb;
    if (clear_length)
        add_new_data_source(walk->pdu->pinfo, tvb, sources[region]);
    proto_tree_add_item(tree, *fields[region], walk->tvb, offset, length, ENC_NA);
    walk->items++;
    return tvb;
}

/* ---- registration ---- */

void iggy_register_decrypt(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_message_encrypted_payload,
          { "Encrypted payload", "iggy.message.encrypted_payload", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Nonce, ciphertext and tag; a key of the preferences opened them", HFILL } },
        { &hf_iggy_message_encrypted_headers,
          { "Encrypted user headers", "iggy.message.encrypted_headers", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Nonce, ciphertext and tag; a key of the preferences opened them", HFILL } },
    };
    static uat_field_t fields[] = {
        UAT_FLD_CSTRING(keys, stream, "Stream", "Name or id of the stream; empty: all streams"),
        UAT_FLD_CSTRING(keys, topic, "Topic", "Name or id of the topic; empty: all topics"),
        UAT_FLD_CSTRING(keys, key, "Key", "32 bytes in base64, as the SDK takes them, or 64 hexadecimal digits"),
        UAT_END_FIELDS
    };
    uat_t *table = uat_new("Iggy payload keys", sizeof(iggy_key_t), "iggy_keys", true, &keys, &keys_count,
                           UAT_AFFECTS_DISSECTION, NULL, key_copy, key_update, key_free, NULL, NULL, fields);
    proto_register_field_array(proto, hf, array_length(hf));
    prefs_register_uat_preference(iggy_preferences, "keys", "Keys of encrypted payloads",
                                  "Keys of payloads and user headers that clients encrypt (AES-256-GCM) or servers encrypt at "
                                  "rest (AES-256-GCM-SIV), by stream and topic", table);
}
