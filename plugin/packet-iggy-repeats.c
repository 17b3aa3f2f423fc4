/* packet-iggy-repeats.c
 * Bodies that begin like the one before: what they teach in the first pass is known without walking them.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-repeats.h"

#include <string.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-connection.h"
#include "packet-iggy-names.h"

#define PLACES 4u      /* of a direction; commands that clients send in turns have codes that differ in the last bits */
#define MOST_BYTES 96u /* of a body */

/* A body that was walked. */
typedef struct {
    const iggy_exchange_t *exchange;
    const void *request_facts;       /* of the exchange, for a reply: it was walked with these */
    uint32_t names;                  /* iggy_names_changes() then */
    uint32_t size, least;            /* of the frame: as it was, and as others need it */
    uint8_t  operation, version;
    bool     to_end;                 /* only frames of that size are like it */
    uint8_t  length, room;
    uint8_t  bytes[];                /* of the body: those that decide */
} repeat_t;

struct iggy_repeats {
    repeat_t *at[2][PLACES]; /* requests, replies; NULL: none yet */
};

/* Commands whose bodies repeat, where the frame is whole; a refused request tells nothing. */
static bool may_repeat(const iggy_pdu_t *pdu)
{
    const iggy_command_t *command = pdu->exchange ? iggy_command(pdu->exchange->code) : NULL;
    if (!command || !(command->flags & IGGY_REPEATS) || tvb_captured_length(pdu->tvb) < pdu->size)
        return false;
    return pdu->response ? (command->flags & IGGY_LEARN) && !iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0) : true;
}

static repeat_t **place_of(const iggy_pdu_t *pdu, struct iggy_repeats *repeats)
{
    return &repeats->at[pdu->response][pdu->exchange->code % PLACES];
}

/* The last of the place of this frame, NULL if there is none. */
static const repeat_t *last_of(const iggy_pdu_t *pdu)
{
    struct iggy_repeats *repeats = pdu->place->conversation->repeats;
    return repeats ? *place_of(pdu, repeats) : NULL;
}

/* Room for a body in the place of this frame, which is used again where it is enough. */
static repeat_t *make_room(const iggy_pdu_t *pdu, size_t length)
{
    struct iggy_conversation *conversation = pdu->place->conversation;
    if (!conversation->repeats)
        conversation->repeats = wmem_new0(wmem_file_scope(), struct iggy_repeats);
    repeat_t **place = place_of(pdu, conversation->repeats);
    if (!*place || (*place)->room < length) {
        *place = (repeat_t *)wmem_realloc(wmem_file_scope(), *place, sizeof **place + length);
        (*place)->room = (uint8_t)length;
    }
    return *place;
}

bool iggy_repeats(iggy_pdu_t *pdu)
{
    const repeat_t *last = may_repeat(pdu) ? last_of(pdu) : NULL;
    if (!last || last->exchange->code != pdu->exchange->code || last->operation != pdu->operation ||
        last->version != pdu->version || last->names != iggy_names_changes())
        return false;
    if (pdu->size < last->least || (last->to_end && pdu->size != last->size) ||
        tvb_memeql(pdu->tvb, (int)IGGY_HEADER_SIZE, last->bytes, last->length))
        return false;
    if (pdu->response)
        return pdu->exchange->request_facts == last->request_facts;
    pdu->exchange->request_facts = last->exchange->request_facts;
    return true;
}

void iggy_repeats_note(iggy_pdu_t *pdu, const iggy_walk_t *walk)
{
    int length = MAX(walk->decided - (int)IGGY_HEADER_SIZE, 0);
    if (!may_repeat(pdu) || length > (int)MOST_BYTES)
        return;
    repeat_t *place = make_room(pdu, (size_t)length);
    place->exchange = pdu->exchange;
    place->request_facts = pdu->exchange->request_facts;
    place->names = iggy_names_changes();
    place->size = pdu->size;
    place->least = (uint32_t)MAX(walk->needed, walk->decided);
    place->operation = pdu->operation;
    place->version = pdu->version;
    place->to_end = walk->to_end;
    place->length = (uint8_t)length;
    tvb_memcpy(pdu->tvb, place->bytes, (int)IGGY_HEADER_SIZE, (size_t)length);
}
