/* packet-iggy-names.h
 * Names and ids of streams, topics, consumer groups and users, learnt from earlier frames, as of a frame.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_NAMES_H
#define PACKET_IGGY_NAMES_H

#include "packet-iggy.h"

typedef enum {
    IGGY_NAME_STREAM,
    IGGY_NAME_TOPIC,
    IGGY_NAME_CONSUMER_GROUP,
    IGGY_NAME_USER,
    IGGY_NAME_KINDS
} iggy_name_kind_t;

/* Whose name: parents 0 where there are none. */
typedef struct {
    uint8_t  kind;
    uint32_t stream, topic; /* ids of the parents */
    uint32_t id;
} iggy_name_key_t;

/** Learn (first pass only; later passes do nothing) that from this frame on the thing has this name; NULL: it is gone. */
void iggy_names_learn(iggy_pdu_t *pdu, const iggy_name_key_t *key, const char *name);

/** The name as of this frame, NULL if not known. File scope. */
const char *iggy_names_name(iggy_pdu_t *pdu, const iggy_name_key_t *key);

/** The id that had this name as of this frame; false if not known. `key->id` is filled. */
bool iggy_names_id(iggy_pdu_t *pdu, iggy_name_key_t *key, const char *name);

/**
 * Complete a fact pair: X_ID known and X_NAME not, or the other way round. Parents are taken from the facts (stream, topic).
 * Learnt facts get has = 2. `id_fact` is IGGY_FACT_STREAM_ID, _TOPIC_ID, _CONSUMER_GROUP_ID or _USER_ID; others do nothing.
 * @return true if something was added
 */
bool iggy_names_complete(iggy_pdu_t *pdu, iggy_facts_t *facts, iggy_fact_t id_fact);

/* End steps for rows (.done): learn id and name from the facts just noted, parents from facts or the matched request. */
struct iggy_walk;
void iggy_learn_stream(struct iggy_walk *walk, proto_item *item, int start, int end);
void iggy_learn_topic(struct iggy_walk *walk, proto_item *item, int start, int end);
void iggy_learn_consumer_group(struct iggy_walk *walk, proto_item *item, int start, int end);
void iggy_learn_user(struct iggy_walk *walk, proto_item *item, int start, int end);

/** After a matched successful reply: follow renames and deletes (requests 130, 134, 140, 143, 129, 133, 142, 150). First pass. */
void iggy_names_follow(iggy_pdu_t *pdu);

/* What a reply needs of its request: facts that the body of a reply does not repeat. Equal ones are one (file scope). */
typedef struct {
    uint8_t     fact;  /* iggy_fact_t */
    uint8_t     has;   /* as in iggy_facts_t at the time of the request */
    uint64_t    value;
    const char *text;  /* file scope */
} iggy_kept_fact_t;

typedef struct iggy_kept {
    unsigned         count;
    iggy_kept_fact_t facts[];
} iggy_kept_t;

/** The kept fact, NULL if there is none (`kept` may be NULL). */
static inline const iggy_kept_fact_t *iggy_kept_fact(const iggy_kept_t *kept, iggy_fact_t fact)
{
    for (unsigned i = 0; kept && i < kept->count; i++)
        if (kept->facts[i].fact == fact)
            return &kept->facts[i];
    return NULL;
}

/** First pass, before the body: finds the names of the server that this frame comes from or goes to. */
void iggy_names_attach(iggy_pdu_t *pdu);

/** Whether a prepare renames or deletes something: its body is walked in the first pass. */
bool iggy_names_teaches(const iggy_pdu_t *pdu);

/** After the body: keeps a request's facts, gives them to its reply, learns from both. */
void iggy_names_after_body(iggy_pdu_t *pdu);

/** Rises with every change of what is known about names: as long as it stays, equal bytes are about equal names. */
uint32_t iggy_names_changes(void);

/** A text in file scope; equal texts are one. */
const char *iggy_names_intern(const char *text);

void iggy_register_names(int proto);

#endif
