/* packet-iggy-links.c
 * What is shown of the links between frames of the replica plane.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#include <string.h>

#include <epan/expert.h>
#include <epan/prefs.h>

#include "packet-iggy-headers.h"
#include "packet-iggy-values.h"

#define MOST_LINKS 100u /* of one kind shown with a frame */

static int hf_iggy_replica_local = IGGY_UNREGISTERED;
static int hf_iggy_replica_peer = IGGY_UNREGISTERED;
static int hf_iggy_prepare_in = IGGY_UNREGISTERED;
static int hf_iggy_suffix_in = IGGY_UNREGISTERED;
static int hf_iggy_forwarded_in = IGGY_UNREGISTERED;
static int hf_iggy_prepare_ok_in = IGGY_UNREGISTERED;
static int hf_iggy_prepare_ok_time = IGGY_UNREGISTERED;
static int hf_iggy_commit_in = IGGY_UNREGISTERED;
static int hf_iggy_commit_time = IGGY_UNREGISTERED;
static int hf_iggy_commits_count = IGGY_UNREGISTERED;
static int hf_iggy_request_in = IGGY_UNREGISTERED;
static int hf_iggy_prepared_in = IGGY_UNREGISTERED;
static int hf_iggy_prepared_time = IGGY_UNREGISTERED;
static int hf_iggy_view_change = IGGY_UNREGISTERED;
static int hf_iggy_view_change_first_in = IGGY_UNREGISTERED;
static int hf_iggy_view_change_start_in = IGGY_UNREGISTERED;
static int hf_iggy_view_change_time = IGGY_UNREGISTERED;
static int hf_iggy_silence = IGGY_UNREGISTERED;
static int hf_iggy_repair_count = IGGY_UNREGISTERED;
static int hf_iggy_transfer_request_in = IGGY_UNREGISTERED;
static int hf_iggy_transfer_target_in = IGGY_UNREGISTERED;
static int hf_iggy_transfer_received = IGGY_UNREGISTERED;
static int hf_iggy_transfer_total = IGGY_UNREGISTERED;
static int hf_iggy_transfer_share = IGGY_UNREGISTERED;

static expert_field ei_iggy_prepare_again = EI_INIT;
static expert_field ei_iggy_other_prepare = EI_INIT;
static expert_field ei_iggy_op_gap = EI_INIT;
static expert_field ei_iggy_no_prepare = EI_INIT;
static expert_field ei_iggy_silence = EI_INIT;
static expert_field ei_iggy_view_change = EI_INIT;
static expert_field ei_iggy_view_start = EI_INIT;
static expert_field ei_iggy_suffix_other = EI_INIT;
static expert_field ei_iggy_transfer_aborted = EI_INIT;
static expert_field ei_iggy_refused = EI_INIT;
static expert_field ei_iggy_range_evicted = EI_INIT;

static unsigned silence_milliseconds = 2000;

unsigned iggy_links_silence(void) { return silence_milliseconds; }

/* What the frame has of what few have. */
static const iggy_rest_t *rest_of(const iggy_link_t *link)
{
    static const iggy_rest_t nothing;
    return link->rest ? link->rest : &nothing;
}

static uint64_t now(const iggy_pdu_t *pdu) { return iggy_links_when(&pdu->pinfo->abs_ts); }

/* ---- pieces ---- */

static proto_item *show_packet(iggy_pdu_t *pdu, proto_tree *tree, int hf, uint32_t packet)
{
    if (!packet)
        return NULL;
    proto_item *item = proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, packet);
    proto_item_set_generated(item);
    return item;
}

static void show_number(iggy_pdu_t *pdu, proto_tree *tree, int hf, uint64_t number)
{
    proto_item_set_generated(proto_tree_add_uint64(tree, hf, pdu->tvb, 0, 0, number));
}

static void show_time(iggy_pdu_t *pdu, proto_tree *tree, int hf, uint64_t from, uint64_t to)
{
    nstime_t span = iggy_links_between(from, to);
    proto_item_set_generated(proto_tree_add_time(tree, hf, pdu->tvb, 0, 0, &span));
}

static double seconds(uint64_t from, uint64_t to)
{
    nstime_t span = iggy_links_between(from, to);
    return nstime_to_sec(&span);
}

static void show_end(iggy_pdu_t *pdu, proto_tree *tree, int hf, unsigned side)
{
    const iggy_ends_t *ends = pdu->place->conversation->ends;
    if (ends && ends->since[side] && ends->since[side] <= iggy_conversation_order(pdu))
        proto_item_set_generated(proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, ends->id[side]));
}

/* Where a prepare was seen first, whole or as a header in a suffix. */
static proto_item *show_entry(iggy_pdu_t *pdu, proto_tree *tree, const iggy_entry_t *entry)
{
    return show_packet(pdu, tree, entry->from_suffix ? hf_iggy_suffix_in : hf_iggy_prepare_in, entry->packet);
}

/* Later sightings of a prepare, or (kind IGGY_MARK_OK) its prepare_oks. */
static void show_marks(iggy_pdu_t *pdu, proto_tree *tree, int hf, const iggy_entry_t *entry, uint32_t kind)
{
    for (unsigned n = 0; n < entry->marks_count; n++) {
        iggy_brief_t mark = iggy_briefs_at(&entry->marks, entry->marks_count, n);
        uint32_t packet = mark.number & ~IGGY_MARK_OK;
        if ((mark.number & IGGY_MARK_OK) != kind || packet == pdu->pinfo->num)
            continue;
        proto_item *item = show_packet(pdu, tree, hf, packet);
        proto_item_append_text(item, " (%.6f s later)", iggy_links_seconds_later(mark.later));
    }
}

/* ---- the log ---- */

/* What became of a prepare: forward links. */
static void show_future(iggy_pdu_t *pdu, proto_tree *tree, const iggy_entry_t *entry)
{
    iggy_mark_t commit = iggy_links_commit_mark(entry->commit);
    if (entry->packet == pdu->pinfo->num)
        show_marks(pdu, tree, hf_iggy_forwarded_in, entry, 0);
    show_marks(pdu, tree, hf_iggy_prepare_ok_in, entry, IGGY_MARK_OK);
    if (show_packet(pdu, tree, hf_iggy_commit_in, commit.packet))
        show_time(pdu, tree, hf_iggy_commit_time, entry->when, commit.when);
}

static void show_prepare(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    const iggy_entry_t *entry = link->entry;
    if (link->notes & IGGY_LINK_AGAIN)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_prepare_again);
    if (link->notes & IGGY_LINK_OTHER)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_other_prepare);
    if (link->notes & IGGY_LINK_GAP)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_op_gap, "%" PRIu64 " ops are missing before this one",
                               link->number);
    if (!entry)
        return;
    if (entry->packet != pdu->pinfo->num)
        show_entry(pdu, tree, entry);
    show_packet(pdu, tree, hf_iggy_request_in, entry->request);
    if (PINFO_FD_VISITED(pdu->pinfo))
        show_future(pdu, tree, entry);
}

bool iggy_links_prepare_ok_time(const iggy_pdu_t *pdu, nstime_t *span)
{
    iggy_link_t room;
    const iggy_link_t *link = pdu->command == IGGY_PREPARE_OK && pdu->frame && pdu->place->replica
                                  ? iggy_links_of(pdu->frame, &room) : NULL;
    if (!link || !link->entry)
        return false;
    *span = iggy_links_between(link->entry->when, now(pdu));
    return true;
}

static void show_prepare_ok(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    if (link->notes & IGGY_LINK_NO_PREPARE)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_no_prepare);
    if (!link->entry)
        return;
    show_entry(pdu, tree, link->entry);
    show_time(pdu, tree, hf_iggy_prepare_ok_time, link->entry->when, now(pdu));
    if (PINFO_FD_VISITED(pdu->pinfo))
        show_packet(pdu, tree, hf_iggy_commit_in, iggy_links_commit_mark(link->entry->commit).packet);
}

static void show_commit(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    if (link->notes & IGGY_LINK_SILENCE) {
        proto_item *item = proto_tree_add_time(tree, hf_iggy_silence, pdu->tvb, 0, 0, &rest_of(link)->silence);
        proto_item_set_generated(item);
        expert_add_info_format(pdu->pinfo, item, &ei_iggy_silence, "No heartbeat of this group for %.3f s",
                               nstime_to_sec(&rest_of(link)->silence));
    }
    if (!(link->notes & IGGY_LINK_COMMITS))
        return;
    show_number(pdu, tree, hf_iggy_commits_count, link->number);
    const iggy_entry_t *entry = link->entry;
    for (uint64_t n = 0; entry && n < MIN(link->number, MOST_LINKS); n++, entry = iggy_links_entry(entry->next)) {
        proto_item *item = show_entry(pdu, tree, entry);
        proto_item_append_text(item, " (op %" PRIu64 ", %.6f s before)", entry->op, seconds(entry->when, now(pdu)));
    }
}

static void show_change(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    const iggy_change_t *change = rest_of(link)->change;
    proto_item *item = proto_tree_add_uint(tree, hf_iggy_view_change, pdu->tvb, 0, 0, change->number);
    proto_item_set_generated(item);
    if (link->notes & IGGY_LINK_CHANGE_FIRST) {
        bool silent = change->silence.secs || change->silence.nsecs;
        if (silent)
            proto_item_set_generated(proto_tree_add_time(tree, hf_iggy_silence, pdu->tvb, 0, 0, &change->silence));
        expert_add_info_format(pdu->pinfo, item, &ei_iggy_view_change, "A view change begins: view %u%s%s", change->view,
                               silent ? ", seconds since the last heartbeat: " : "",
                               silent ? wmem_strdup_printf(pdu->pinfo->pool, "%.3f", nstime_to_sec(&change->silence)) : "");
    } else if (change->first.packet && change->first.packet <= pdu->pinfo->num) {
        show_packet(pdu, tree, hf_iggy_view_change_first_in, change->first.packet);
        show_time(pdu, tree, hf_iggy_view_change_time, change->first.when, now(pdu));
    }
    if (link->notes & IGGY_LINK_CHANGE_START)
        expert_add_info_format(pdu->pinfo, item, &ei_iggy_view_start, "View %u starts", change->view);
    else if (PINFO_FD_VISITED(pdu->pinfo))
        show_packet(pdu, tree, hf_iggy_view_change_start_in, change->start.packet);
    if (link->notes & IGGY_LINK_SUFFIX_OTHER)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_suffix_other,
                               "The suffix has another prepare at op %" PRIu64 " than the capture showed", link->number);
}

static void show_round(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    const iggy_round_t *round = rest_of(link)->round;
    if (link->notes & IGGY_LINK_QUESTION) {
        if (PINFO_FD_VISITED(pdu->pinfo))
            show_packet(pdu, tree, hf_iggy_response_in, round->answer.packet);
        return;
    }
    show_packet(pdu, tree, hf_iggy_response_to, round->question.packet);
    show_time(pdu, tree, hf_iggy_response_time, round->question.when, now(pdu));
    if (pdu->command == IGGY_REPAIR_DONE)
        show_number(pdu, tree, hf_iggy_repair_count, link->number);
}

static void show_transfer(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    const iggy_transfer_t *transfer = rest_of(link)->transfer;
    const iggy_offer_t *offer = rest_of(link)->offer;
    if (transfer->request.packet != pdu->pinfo->num)
        show_packet(pdu, tree, hf_iggy_transfer_request_in, transfer->request.packet);
    if (offer) {
        show_packet(pdu, tree, hf_iggy_transfer_target_in, offer->packet);
        show_number(pdu, tree, hf_iggy_transfer_received, link->number);
        show_number(pdu, tree, hf_iggy_transfer_total, offer->total);
        double share = offer->total ? 100.0 * (double)link->number / (double)offer->total : 100.0;
        proto_item_set_generated(proto_tree_add_double(tree, hf_iggy_transfer_share, pdu->tvb, 0, 0, share));
    }
    if (link->notes & IGGY_LINK_ABORTED)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_transfer_aborted);
}

/* ---- refusals ---- */

/* Answers that say no: a fact that is not `good`. `names` NULL: the number has no name. */
static const struct {
    uint8_t command, fact, good;
    const value_string *names;
} refusals[] = {
    { IGGY_REPLICA_CHALLENGE, IGGY_FACT_STATUS, 0, iggy_handshake_status_vals },
    { IGGY_STATE_TRANSFER_TARGET, IGGY_FACT_AVAILABLE, 1, NULL },
    { IGGY_FORWARD_REGISTER_RESULT, IGGY_FACT_OUTCOME, 0, iggy_forward_register_outcome_vals },
    { IGGY_FORWARD_LOGOUT_RESULT, IGGY_FACT_OUTCOME, 0, iggy_forward_logout_outcome_vals },
};

static void show_refusal(iggy_pdu_t *pdu)
{
    for (size_t i = 0; i < array_length(refusals); i++) {
        iggy_fact_t fact = (iggy_fact_t)refusals[i].fact;
        if (refusals[i].command != pdu->command || !iggy_has(pdu->facts, fact))
            continue;
        uint32_t value = (uint32_t)pdu->facts->at[fact].value;
        if (value == refusals[i].good)
            return;
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_refused, "Refused: %s",
                               refusals[i].names ? val_to_str_const(value, refusals[i].names, "unknown reason")
                                                 : "nothing to transfer");
        return;
    }
    if (pdu->command == IGGY_SEGMENT_DELETE && iggy_fact(pdu->facts, IGGY_FACT_KIND, 0) == 2)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_refused, "Refused: try again");
    if (pdu->command == IGGY_RANGE_EVICTED)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_range_evicted);
}

/* ---- all of it ---- */

static void show_link(iggy_pdu_t *pdu, proto_tree *tree, const iggy_link_t *link)
{
    if (pdu->command == IGGY_PREPARE || pdu->command == IGGY_REPAIR_PREPARE)
        show_prepare(pdu, tree, link);
    else if (pdu->command == IGGY_PREPARE_OK)
        show_prepare_ok(pdu, tree, link);
    else if (pdu->command == IGGY_COMMIT)
        show_commit(pdu, tree, link);
    if (rest_of(link)->change)
        show_change(pdu, tree, link);
    if (rest_of(link)->round)
        show_round(pdu, tree, link);
    if (rest_of(link)->transfer)
        show_transfer(pdu, tree, link);
    show_packet(pdu, tree, hf_iggy_request_in, rest_of(link)->request);
}

/* A client's request, once the capture was read: which prepare carries it. */
static void show_request(iggy_pdu_t *pdu, proto_tree *tree)
{
    const iggy_entry_t *entry = PINFO_FD_VISITED(pdu->pinfo) ? iggy_links_entry_of(pdu->exchange) : NULL;
    if (!entry || entry->request != pdu->pinfo->num)
        return;
    show_packet(pdu, tree, hf_iggy_prepared_in, entry->packet);
    show_time(pdu, tree, hf_iggy_prepared_time, now(pdu), entry->when);
}

void iggy_links_show(iggy_pdu_t *pdu, proto_tree *tree)
{
    if (!pdu->frame)
        return;
    if (!pdu->place->replica) {
        if (pdu->command == IGGY_REQUEST)
            show_request(pdu, tree);
        return;
    }
    unsigned side = pdu->place->side == IGGY_SIDE_SERVER;
    show_end(pdu, tree, hf_iggy_replica_local, side);
    show_end(pdu, tree, hf_iggy_replica_peer, !side);
    iggy_link_t room;
    const iggy_link_t *link = iggy_links_of(pdu->frame, &room);
    if (link)
        show_link(pdu, tree, link);
    show_refusal(pdu);
}

/* ---- registration ---- */

static void register_experts(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_prepare_again, { "iggy.expert.prepare_again", PI_SEQUENCE, PI_NOTE,
                                    "The prepare was sent on this connection before", EXPFILL } },
        { &ei_iggy_other_prepare, { "iggy.expert.other_prepare", PI_SEQUENCE, PI_WARN,
                                    "Another prepare was seen at this op", EXPFILL } },
        { &ei_iggy_op_gap, { "iggy.expert.op_gap", PI_SEQUENCE, PI_NOTE, "Ops are missing before this one", EXPFILL } },
        { &ei_iggy_no_prepare, { "iggy.expert.no_prepare", PI_SEQUENCE, PI_NOTE,
                                 "The acknowledged prepare is not in the capture, or was committed long ago", EXPFILL } },
        { &ei_iggy_silence, { "iggy.expert.silence", PI_SEQUENCE, PI_NOTE, "No heartbeat for a long time", EXPFILL } },
        { &ei_iggy_view_change, { "iggy.expert.view_change", PI_SEQUENCE, PI_NOTE, "A view change begins", EXPFILL } },
        { &ei_iggy_view_start, { "iggy.expert.view_start", PI_SEQUENCE, PI_NOTE, "A view starts", EXPFILL } },
        { &ei_iggy_suffix_other, { "iggy.expert.suffix_other", PI_SEQUENCE, PI_WARN,
                                   "The suffix has another prepare than the capture showed", EXPFILL } },
        { &ei_iggy_transfer_aborted, { "iggy.expert.transfer_aborted", PI_SEQUENCE, PI_WARN,
                                       "A state transfer ends unfinished", EXPFILL } },
        { &ei_iggy_refused, { "iggy.expert.refused", PI_RESPONSE_CODE, PI_NOTE, "Refused", EXPFILL } },
        { &ei_iggy_range_evicted, { "iggy.expert.range_evicted", PI_RESPONSE_CODE, PI_NOTE,
                                    "The peer no longer has the front of the range", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}

void iggy_register_links(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_replica_local,
          { "Replica that sends", "iggy.replica.local", FT_UINT8, BASE_DEC, NULL, 0,
            "Replica at the end of the connection that sent the frame; a prepare may be built by another one", HFILL } },
        { &hf_iggy_replica_peer,
          { "Replica that receives", "iggy.replica.peer", FT_UINT8, BASE_DEC, NULL, 0,
            "Replica at the other end of the connection", HFILL } },
        { &hf_iggy_prepare_in,
          { "Prepare in", "iggy.prepare_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0,
            "The packet in which the prepare was seen first", HFILL } },
        { &hf_iggy_suffix_in,
          { "In the suffix of", "iggy.suffix_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0,
            "The packet of the start_view whose suffix has the prepare; the capture has no earlier sighting", HFILL } },
        { &hf_iggy_forwarded_in,
          { "Forwarded in", "iggy.forwarded_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            "A packet in which the prepare travels on to the next replica", HFILL } },
        { &hf_iggy_prepare_ok_in,
          { "Acknowledged in", "iggy.prepare_ok_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_ACK), 0,
            "The packet of a prepare_ok", HFILL } },
        { &hf_iggy_prepare_ok_time,
          { "Time to prepare_ok", "iggy.prepare_ok.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
            "Time from the first sighting of the prepare", HFILL } },
        { &hf_iggy_commit_in,
          { "Committed in", "iggy.commit_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            "The packet of the first commit frame that covers the prepare", HFILL } },
        { &hf_iggy_commit_time,
          { "Time to commit", "iggy.commit.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
            "Time from the first sighting of the prepare to the commit frame that covers it", HFILL } },
        { &hf_iggy_commits_count,
          { "Commits", "iggy.commits_count", FT_UINT64, BASE_DEC, NULL, 0,
            "Prepares of the capture that this commit frame is the first to cover", HFILL } },
        { &hf_iggy_request_in,
          { "Request in", "iggy.request_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0,
            "The packet of the client's request", HFILL } },
        { &hf_iggy_prepared_in,
          { "Prepared in", "iggy.prepared_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            "The packet of the prepare that carries the request", HFILL } },
        { &hf_iggy_prepared_time,
          { "Time to prepare", "iggy.prepared.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_view_change,
          { "View change", "iggy.view_change", FT_UINT32, BASE_DEC, NULL, 0,
            "Number of the view change in the capture: all frames of one have the same", HFILL } },
        { &hf_iggy_view_change_first_in,
          { "View change began in", "iggy.view_change.first_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            NULL, HFILL } },
        { &hf_iggy_view_change_start_in,
          { "View starts in", "iggy.view_change.start_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            "The packet of the start_view", HFILL } },
        { &hf_iggy_view_change_time,
          { "Time of the view change", "iggy.view_change.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
            "Time since its first frame", HFILL } },
        { &hf_iggy_silence,
          { "Silence", "iggy.silence", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
            "Time since the last heartbeat of the group", HFILL } },
        { &hf_iggy_repair_count,
          { "Prepares served", "iggy.repair.count", FT_UINT64, BASE_DEC, NULL, 0,
            "Repaired prepares of this round that the capture showed", HFILL } },
        { &hf_iggy_transfer_request_in,
          { "Transfer asked for in", "iggy.transfer.request_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0,
            NULL, HFILL } },
        { &hf_iggy_transfer_target_in,
          { "Offer in", "iggy.transfer.target_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
            NULL, HFILL } },
        { &hf_iggy_transfer_received,
          { "Received", "iggy.transfer.received", FT_UINT64, BASE_DEC, NULL, 0,
            "Bytes of all artifacts received so far", HFILL } },
        { &hf_iggy_transfer_total,
          { "Total", "iggy.transfer.total", FT_UINT64, BASE_DEC, NULL, 0,
            "Bytes of all artifacts of the manifest", HFILL } },
        { &hf_iggy_transfer_share,
          { "Share", "iggy.transfer.share", FT_DOUBLE, BASE_NONE, NULL, 0, "Percent received so far", HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
    register_experts(proto);
    iggy_links_register_state();
    register_cleanup_routine(iggy_links_forget);
    prefs_register_uint_preference(iggy_preferences, "silence", "Silence of a primary (milliseconds)",
                                   "Heartbeats of a consensus group that are further apart are noted; 0: never. Servers send one "
                                   "every 500 ms, and change the view after 5 s without.", 10, &silence_milliseconds);
}
