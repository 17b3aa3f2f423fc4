/* packet-iggy-decrypt.h
 * Encrypted payloads and user headers: AES-256-GCM as the SDK does it, with keys from a user table (messages.md 2.5).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_DECRYPT_H
#define PACKET_IGGY_DECRYPT_H

#include "packet-iggy-layout.h"

typedef enum { IGGY_REGION_PAYLOAD, IGGY_REGION_HEADERS } iggy_region_t;

/**
 * Open nonce (12 bytes), ciphertext and tag (16 bytes) with the keys whose rows fit the frame's stream and topic; what the frame
 * does not tell fits every row. In mode SHOW the encrypted bytes are added to `tree`, and the clear ones are a data source.
 * @param offset, length the encrypted region in walk->tvb, all of it captured
 * @return the clear bytes, NULL if there are no keys or none opens it
 */
tvbuff_t *iggy_decrypt(iggy_walk_t *walk, proto_tree *tree, int offset, int length, iggy_region_t region);

/** Fields (between those of the messages, which they belong to) and the table of keys. */
void iggy_register_decrypt(int proto);

#endif
