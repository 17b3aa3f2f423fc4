/* packet-iggy-links-state.h
 * What the first pass knows of clusters, and what stays of it with the frames. For the files of the room of links alone.
 *
 * Maps hold what is open: an entry leaves them some time after its commit, a round when it is answered. Objects that frames
 * point to live as long as the file.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LINKS_STATE_H
#define PACKET_IGGY_LINKS_STATE_H

#include "packet-iggy-connection.h"
#include "packet-iggy-links.h"

/* A frame in time; 16 bytes. */
typedef struct {
    uint64_t when;   /* nanoseconds since the epoch */
    uint32_t packet; /* 0: none */
    uint32_t lane;   /* direction of a connection, iggy_links_lane() */
} iggy_mark_t;

/* A number, and a time that it came later than something else: iggy_links_later(). */
typedef struct {
    uint32_t number;
    int32_t  later;
} iggy_brief_t;

/* Some of them; how many stands beside. One alone needs no more room. */
typedef struct iggy_more_briefs {
    iggy_brief_t at[3];
    struct iggy_more_briefs *next;
} iggy_more_briefs_t;

typedef union {
    iggy_brief_t one;
    iggy_more_briefs_t *more;    /* all, if there are several */
} iggy_briefs_t;

#define IGGY_MARK_OK 0x80000000u /* in the packet of a mark of an entry: a prepare_ok; else one more sighting */

/*
 * A prepare, over all its sightings: it travels along the chain of replicas, and may be sent again. There is one for every two
 * frames or so of the replica plane, and all of them stay: 48 bytes.
 */
typedef struct {
    uint64_t op;
    uint64_t when;               /* of the first sighting: iggy_links_when() */
    uint32_t packet;             /* of the first sighting */
    uint32_t commit;             /* number of the commit that covers it, 0 = none: iggy_links_commit_mark() */
    uint32_t request;            /* packet of the client's request, 0 = none */
    uint32_t number;             /* its own */
    uint32_t next;               /* number of the next in the order of commits, 0 = none */
    uint8_t  marks_count;
    uint8_t  lanes_count;        /* of its iggy_live_t */
    bool     from_suffix;        /* first seen as its header alone, in the suffix of a start_view */
    iggy_briefs_t marks;         /* packets of later sightings and (IGGY_MARK_OK) of prepare_oks */
} iggy_entry_t;

/* What the first pass needs besides of an entry that is open, or was committed not long ago. They are used again. */
typedef struct iggy_live {
    iggy_entry_t *entry;
    uint64_t identity;           /* low half; 0: unsealed */
    struct iggy_live *below;     /* in its bucket: older ones */
    struct iggy_live *next;      /* open: by op; committed: in the order of commits */
    union {
        struct iggy_live *previous; /* open */
        uint64_t committed;      /* when */
    };
    iggy_briefs_t lanes;         /* of its sightings */
} iggy_live_t;

/* A view change of one group. */
typedef struct {
    uint32_t view;
    uint32_t number;             /* of view changes in the capture, from 1 */
    iggy_mark_t first;           /* the first start_view_change or do_view_change */
    iggy_mark_t start;           /* the start_view that ends it */
    nstime_t silence;            /* since the last heartbeat when it began; 0: none seen */
} iggy_change_t;

/* A consensus group of a cluster. */
typedef struct {
    uint64_t cluster, number;    /* key: first half of the cluster id */
    iggy_live_t **buckets;       /* by op; a power of two */
    unsigned buckets_count;
    iggy_live_t *open_first, *open_last;
    iggy_live_t *done_first, *done_last;
    unsigned open_count, done_count;
    iggy_mark_t heartbeat;       /* the last commit frame */
    wmem_map_t *changes;         /* view changes, by view; NULL: none yet */
} iggy_group_t;

/* A question and its answer. */
typedef struct iggy_round {
    iggy_mark_t question, answer;
    uint32_t count;              /* repair: prepares served */
} iggy_round_t;

/* What a state transfer offers. A request that is repeated may get another offer. */
typedef struct {
    uint32_t packet;
    uint32_t artifacts;
    uint64_t *lengths, *ends;    /* of each artifact: bytes, and how far they came */
    uint64_t total, received;
} iggy_offer_t;

/* A state transfer. */
typedef struct {
    iggy_mark_t request;
    iggy_offer_t *offer;         /* the newest; NULL: none yet */
} iggy_transfer_t;

/* One group on one direction of a connection. */
typedef struct {
    const iggy_group_t *group;
    uint64_t lane;               /* key: both */
    uint64_t last_op;            /* of prepares */
    uint64_t counter;            /* of the last commit frame */
    iggy_mark_t heartbeat;
    iggy_frame_t *heartbeat_frame;
    iggy_round_t *repair;        /* asked for by this side, not done */
    uint64_t repair_from, repair_to;
    iggy_round_t *start_view;    /* asked for by this side */
    uint64_t start_view_incarnation;
    iggy_transfer_t *transfer;   /* by this side */
} iggy_lane_group_t;

/* notes of a link */
#define IGGY_LINK_QUESTION     0x0001u /* of its round; else the answer */
#define IGGY_LINK_AGAIN        0x0002u /* prepare: on this direction before */
#define IGGY_LINK_OTHER        0x0004u /* prepare: another one was seen at this op */
#define IGGY_LINK_GAP          0x0008u /* prepare: ops are missing before it; number */
#define IGGY_LINK_NO_PREPARE   0x0010u /* prepare_ok: its prepare is not in the capture */
#define IGGY_LINK_SILENCE      0x0020u /* commit: the first after a silence; time */
#define IGGY_LINK_SUFFIX_OTHER 0x0040u /* suffix: differs from a prepare that was seen; op in number */
#define IGGY_LINK_CHANGE_FIRST 0x0080u /* the frame that begins a view change */
#define IGGY_LINK_CHANGE_START 0x0100u /* the frame that ends it */
#define IGGY_LINK_ABORTED      0x0200u /* the transfer ends unfinished */
#define IGGY_LINK_COMMITS      0x0400u /* commit: covers `number` entries from `entry` on */

/* What few frames are part of. */
typedef struct {
    iggy_round_t *round;
    iggy_change_t *change;
    iggy_transfer_t *transfer;
    const iggy_offer_t *offer;   /* of a chunk: the one that it belongs to */
    nstime_t silence;            /* by notes */
    uint32_t request;            /* forward_register: packet of the client's request */
} iggy_rest_t;

/*
 * What a frame of the replica plane is part of. Written in the first pass. Most prepares and prepare_oks have an entry and
 * nothing else: their record has its number.
 */
typedef struct iggy_link {
    iggy_entry_t *entry;
    iggy_rest_t *rest;           /* NULL: nothing else */
    uint64_t number;             /* by notes; of a transfer: bytes received so far */
    uint32_t notes;
} iggy_link_t;

/* Who the ends of a connection are: [side of the sender]. */
typedef struct iggy_ends {
    uint64_t since[2];           /* iggy_conversation_order() from which on the id is known, 0 = not */
    iggy_mark_t challenge;       /* of the handshake */
    uint32_t lane[2];            /* numbers of the two directions */
    uint8_t  id[2];
} iggy_ends_t;

/** The direction that a frame travels in, or the other one of its connection: a number of the capture, never 0. */
uint32_t iggy_links_lane(const iggy_pdu_t *pdu, bool opposite);
iggy_mark_t iggy_links_mark(const iggy_pdu_t *pdu);
/** The link of this frame, made when it is not there; its entry. First pass. */
iggy_link_t *iggy_links_link(iggy_frame_t *frame);
void iggy_links_set_entry(iggy_frame_t *frame, iggy_entry_t *entry);
/** The entry of a number, NULL for 0. */
iggy_entry_t *iggy_links_entry(uint32_t number);
/** A new entry. First pass. */
iggy_entry_t *iggy_links_new_entry(void);
/** Packet and time of a commit, packet 0 for number 0; keep one, which gets a number. Entries share it. */
iggy_mark_t iggy_links_commit_mark(uint32_t number);
uint32_t iggy_links_new_commit(const iggy_mark_t *mark);
/** Add to so many briefs; one of so many, from 0 on; forget them, so that their room is used again. */
void iggy_briefs_add(iggy_briefs_t *briefs, unsigned count, uint32_t number, int32_t later);
iggy_brief_t iggy_briefs_at(const iggy_briefs_t *briefs, unsigned count, unsigned which);
void iggy_briefs_drop(iggy_briefs_t *briefs, unsigned count);
/** The rest of a link, made when it is not there. First pass. */
iggy_rest_t *iggy_links_rest(iggy_link_t *link);
/** A time of the capture as marks keep it; the time between two, negative where the file's times are not in order. */
uint64_t iggy_links_when(const nstime_t *moment);
nstime_t iggy_links_between(uint64_t from, uint64_t to);
/** The time between two in 4 bytes, and in seconds: to the microsecond up to 17 minutes, to the millisecond up to 12 days. */
int32_t iggy_links_later(uint64_t from, uint64_t to);
double iggy_links_seconds_later(int32_t later);
/** Maps of the room; they empty themselves when a file is closed. What else points into its memory is forgotten then. */
void iggy_links_register_state(void);
void iggy_links_forget(void);
/** The link of a frame, or one made of its entry in `room`; NULL if it has neither. All passes. */
const iggy_link_t *iggy_links_of(const iggy_frame_t *frame, iggy_link_t *room);
/** Group of a frame that names one; group and direction. First pass; made when new. NULL if the frame has none. */
iggy_group_t *iggy_links_group(const iggy_pdu_t *pdu);
iggy_lane_group_t *iggy_links_lane_group(const iggy_pdu_t *pdu, const iggy_group_t *group, bool opposite);

/** Number of the next view change of the capture. */
uint32_t iggy_links_next_change(void);
/** Preference: heartbeats further apart are a silence; 0: never. */
unsigned iggy_links_silence(void);

/* -links-log: prepares, commits, view changes */
void iggy_links_log_forget(void);
void iggy_links_prepare(iggy_pdu_t *pdu, iggy_group_t *group);
void iggy_links_prepare_ok(iggy_pdu_t *pdu, iggy_group_t *group);
void iggy_links_commit(iggy_pdu_t *pdu, iggy_group_t *group);
void iggy_links_view_change(iggy_pdu_t *pdu, iggy_group_t *group);
void iggy_links_repaired(iggy_pdu_t *pdu, iggy_group_t *group);

/* -links-rounds: questions and answers, state transfer */
void iggy_links_rounds_register(void);
void iggy_links_rounds_forget(void);
void iggy_links_round(iggy_pdu_t *pdu, iggy_group_t *group);

/* -links-requests: requests of clients and the prepares that carry them */
void iggy_links_requests_register(void);
void iggy_links_requests_forget(void);
void iggy_links_request(iggy_pdu_t *pdu);
void iggy_links_reply(iggy_pdu_t *pdu);
/** Find the open request that this new entry, or forwarded login, carries; packet 0 = none. */
iggy_mark_t iggy_links_find_request(iggy_pdu_t *pdu, iggy_entry_t *entry);
/** The entry that carries a request, NULL if none is known. */
const iggy_entry_t *iggy_links_entry_of(const iggy_exchange_t *exchange);

#endif
