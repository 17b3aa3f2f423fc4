/* packet-iggy-decrypt.h
 * Encrypted payloads and user headers: AES-256-GCM as the SDK does it, with keys from a user table (messages.md 2.5).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_DECRYPT_H
#define PACKET_IGGY_DECRYPT_H

#include "packet-iggy.h"

/* Where bytes belong, to choose keys: names or decimal ids, NULL where not known. */
typedef struct {
    const char *stream, *stream_id;
    const char *topic, *topic_id;
} iggy_key_place_t;

/** Whether the user table has any key; false: do not bother to ask. */
bool iggy_decrypt_wanted(void);

/**
 * Open nonce (12 bytes), ciphertext, tag (16 bytes) with the keys whose rows match `place`; an unknown name matches every row.
 * @param data   exactly the encrypted region, all bytes captured, else nothing is tried
 * @param source name of the data source that shows the clear bytes
 * @return the clear bytes (child of `data`, data source added), NULL if no key opens it
 */
tvbuff_t *iggy_decrypt(packet_info *pinfo, tvbuff_t *data, const iggy_key_place_t *place, const char *source);

void iggy_register_decrypt(int proto, struct pref_module *preferences);

#endif
