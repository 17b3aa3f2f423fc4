/* packet-iggy-joiner.h
 * Byte streams whose carrier neither numbers nor joins its pieces: TLS records, WebSocket messages.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_JOINER_H
#define PACKET_IGGY_JOINER_H

#include "packet-iggy-stream.h"

/* A layer that carries such a stream. */
typedef struct {
    uint8_t     number; /* from 1 */
    const char *piece;  /* what a piece is called: "record", "message" */
} iggy_layer_t;

extern const iggy_layer_t iggy_layer_tls, iggy_layer_websocket;

/**
 * Show the frames of a piece. Pieces come in the order of the stream; the ends of frames that a later piece brings are waited
 * for here, in file scope, and nothing is asked of the carrier.
 * @return bytes of the tvb, 0 if nothing of it is ours
 */
int iggy_dissect_unnumbered(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_layer_t *layer, iggy_trust_t trust);

void iggy_register_joiner(int proto);

#endif
