/* packet-iggy-learnt.c
 * Generated items of what a frame is about but does not carry: a filter for a topic finds the replies, too.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-learnt.h"

#include "packet-iggy-fields.h"

typedef struct {
    iggy_fact_t fact;
    const int  *hf;
} iggy_learnt_t;

static const iggy_learnt_t learnt[] = {
    { IGGY_FACT_STREAM_ID, &hf_iggy_stream_id },
    { IGGY_FACT_STREAM_NAME, &hf_iggy_stream_name },
    { IGGY_FACT_TOPIC_ID, &hf_iggy_topic_id },
    { IGGY_FACT_TOPIC_NAME, &hf_iggy_topic_name },
    { IGGY_FACT_PARTITION, &hf_iggy_partition_id },
    { IGGY_FACT_CONSUMER_GROUP_ID, &hf_iggy_consumer_group_id },
    { IGGY_FACT_CONSUMER_GROUP_NAME, &hf_iggy_consumer_group_name },
    { IGGY_FACT_CONSUMER_ID, &hf_iggy_consumer_id },
    { IGGY_FACT_CONSUMER_NAME, &hf_iggy_consumer_name },
    { IGGY_FACT_USER_ID, &hf_iggy_user_id },
    { IGGY_FACT_USER_NAME, &hf_iggy_user_name },
    { IGGY_FACT_TOKEN_NAME, &hf_iggy_token_name },
};

static void show(iggy_pdu_t *pdu, proto_tree *tree, int hf, const iggy_fact_value_t *value)
{
    proto_item *item = NULL;
    switch (proto_registrar_get_ftype(hf)) {
    case FT_STRING:
        item = value->text ? proto_tree_add_string(tree, hf, pdu->tvb, 0, 0, value->text) : NULL;
        break;
    case FT_UINT64:
        item = proto_tree_add_uint64(tree, hf, pdu->tvb, 0, 0, value->value);
        break;
    default:
        item = proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, (uint32_t)value->value);
    }
    proto_item_set_generated(item);
}

void iggy_learnt_show(iggy_pdu_t *pdu, proto_tree *tree)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(learnt); i++)
        if (pdu->facts->has[learnt[i].fact] == 3)
            show(pdu, tree, *learnt[i].hf, &pdu->facts->at[learnt[i].fact]);
}
