/* packet-iggy-layout.h
 * Layouts are data: constant rows that read like the reference, and the one interpreter that walks them.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LAYOUT_H
#define PACKET_IGGY_LAYOUT_H

#include "packet-iggy.h"
#include "packet-iggy-text.h"

#include <epan/expert.h>

/* How a walk works. */
typedef enum {
    IGGY_WALK_FIT,   /* dry: does the layout fit exactly? no tree, no facts, no expert items, no calls' side effects */
    IGGY_WALK_FACTS, /* dry: facts, no tree */
    IGGY_WALK_SHOW   /* tree, facts, expert items */
} iggy_walk_mode_t;

/* Registers: numbers that a row keeps for later rows of the same walk. One name for each use that nests. */
typedef enum {
    IGGY_REG_NONE = 0,
    IGGY_REG_KIND,
    IGGY_REG_LENGTH,
    IGGY_REG_COUNT,
    IGGY_REG_COUNT_2,
    IGGY_REG_COUNT_3,
    IGGY_REG_COUNT_4,
    IGGY_REG_HAS,
    IGGY_REG_HAS_2,
    IGGY_REG_HAS_STREAMS,
    IGGY_REG_HAS_TOPICS,
    IGGY_REG_SCOPE,
    IGGY_REG_GROUP,
    IGGY_REG_STATUS,
    IGGY_REG_KEY_KIND,
    IGGY_REG_KEY_LENGTH,
    IGGY_REG_VALUE_KIND,
    IGGY_REG_VALUE_LENGTH,
    IGGY_REG_PAYLOAD_LENGTH,
    IGGY_REG_HEADERS_LENGTH,
    IGGY_REG_GROUP_SIZE,
    IGGY_REG_ORIGIN,
    IGGY_REG_FLAGS,
    IGGY_REG_START,
    IGGY_REG_OPERATION,
    IGGY_REG_PARTITION,
    IGGY_REG_RECORD,       /* of a batch: bytes, whether the server stamped it, and what messages count from */
    IGGY_REG_STAMPED,
    IGGY_REG_BASE_OFFSET,
    IGGY_REG_BASE_TIME,
    IGGY_REG_OFFSET_DELTA, /* of a message */
    IGGY_REG_TIME_DELTA,
    IGGY_REG_NEXT_DELTA,   /* the delta that the next message should have */
    IGGY_REG_LIMIT
} iggy_register_t;

typedef enum {
    IGGY_ROW_END = 0,
    IGGY_ROW_ITEM,     /* `size` bytes under `hf`; numbers (1..8 bytes) go to `put` and `fact` */
    IGGY_ROW_RESERVED, /* `size` bytes that should be zero: nothing where they are; else an item with a note
                          (IGGY_ENFORCED: warning) */
    IGGY_ROW_TEXT,     /* length prefix of `size` bytes (hf_2), then so many bytes of text (hf) */
    IGGY_ROW_BYTES,    /* as TEXT, opaque bytes */
    IGGY_ROW_SPAN,     /* register[count] bytes under hf; none: no item */
    IGGY_ROW_REST,     /* all bytes left in the extent under hf; none: no item */
    IGGY_ROW_IDENT,    /* identifier (encodings.md 3): hf = numeric id, hf_2 = name; fact = X_ID (X_NAME is the next) */
    IGGY_ROW_ROWS,     /* `rows` inline; in a subtree of its own when hf is given */
    IGGY_ROW_LIST,     /* register[count] elements, each `rows` in a subtree (hf); without hf straight into the tree */
    IGGY_ROW_REPEAT,   /* elements until the extent ends */
    IGGY_ROW_WHILE,    /* elements while register[when] != 0 (the element sets it anew) */
    IGGY_ROW_BLOCK,    /* length prefix of `size` bytes (hf_2), then `rows` fill exactly so many bytes (subtree hf, optional) */
    IGGY_ROW_EXTENT,   /* `rows` fill exactly register[count] bytes (subtree hf, optional) */
    IGGY_ROW_CALL      /* `call` */
} iggy_row_kind_t;

/* flags */
#define IGGY_NOT       0x0001u /* the condition is register[when] != is */
#define IGGY_IF_LEFT   0x0002u /* row is skipped when the extent is at its end */
#define IGGY_ENFORCED  0x0004u /* reserved: the receiver rejects the frame when not zero */
#define IGGY_SECRET    0x0008u /* hidden by preference, note of the security group */
#define IGGY_SCOPED    0x0010u /* elements keep their facts to themselves (listings) */
#define IGGY_NOT_EMPTY 0x0020u /* text of length 0 breaks the protocol: warning */
#define IGGY_KNOWN     0x0040u /* ITEM: a number that the value string does not have breaks the protocol: no fit, warning */
#define IGGY_NAMED     0x0080u /* ITEM with a fact X_ID that no name follows: the name learnt is added, generated */
#define IGGY_SOFT      0x0100u /* BLOCK, EXTENT: content that does not fit is legal: shown as bytes of hf_2 without a warning
                                  and fits (user headers may be ciphertext) */
#define IGGY_OPAQUE    0x0400u /* SPAN, REST: bytes of any kind, a secret may be among them: hidden where secrets are */
#define IGGY_ASIDE     0x0200u /* what the row reads decides nothing that is kept or learnt (packet-iggy-repeats.h) */

struct iggy_row;
struct iggy_walk;

/* A value that means something else than a number or a time; ends with text NULL. */
typedef struct {
    uint64_t    value;
    const char *text;
} iggy_sentinel_t;

/**
 * What rows cannot say. Reads from `offset`, adds to `tree` in mode SHOW, never reads at or after `walk->end`.
 * @return the offset after what was read; iggy_walk_fail() if it does not fit
 */
typedef int (*iggy_call_t)(struct iggy_walk *walk, const struct iggy_row *row, proto_tree *tree, int offset);

/** The end step of an element or subtree: append to its line, learn names. `start`..`end` are its bytes. Not in mode FIT. */
typedef void (*iggy_done_t)(struct iggy_walk *walk, proto_item *item, int start, int end);

typedef struct iggy_row {
    uint8_t  kind;
    uint8_t  size;         /* bytes of an item, or of a length prefix */
    uint8_t  since, until; /* iggy_version_t, 0 = unbounded */
    uint8_t  when;         /* register of the condition, 0 = always */
    uint8_t  put;          /* register that takes the number */
    uint8_t  count;        /* register with a count or length */
    uint8_t  fact;         /* iggy_fact_t */
    uint16_t flags;
    uint16_t min;          /* LIST: least bytes of an element, at least 1 */
    uint32_t is;           /* the condition holds if register[when] == is */
    const int *hf, *hf_2;
    int      *ett;         /* subtree of hf, or of every element */
    const iggy_sentinel_t *sentinels; /* ITEM: values shown by their meaning */
    const char *label;     /* appended to the line of the enclosing element: text before and after the value, parted by '|' */
    const struct iggy_row *rows;
    iggy_call_t call;
    iggy_done_t done;
} iggy_row_t;

/* A walk over one extent of bytes. Offsets are those of `pdu->tvb`. */
typedef struct iggy_walk {
    iggy_pdu_t *pdu;
    tvbuff_t   *tvb;
    const uint8_t *bytes;  /* those of tvb, as far as they are captured */
    iggy_walk_mode_t mode;
    uint8_t     version;   /* iggy_version_t */
    int         end;       /* end of the current extent */
    int         captured;  /* end of the bytes that are there */
    bool        failed;
    int         failed_at; /* offset of the first byte that did not fit */
    const iggy_row_t *failed_row;
    const char *failed_why; /* constant text, may be NULL */
    proto_item *element;   /* item of the enclosing element, */
    iggy_text_t *line;     /* and what rows append to its line; NULL where nobody sees it */
    unsigned    elements;  /* elements shown so far */
    unsigned    items;     /* items shown so far */
    bool        silent;    /* the item limit is reached: walk on, show no more */
    bool        rows_alone; /* iggy_rows_alone(): rows whose fields nobody looks for are read, not shown */
    iggy_facts_t *facts;   /* where facts go; NULL in mode FIT */
    /* What the facts that are kept came from (packet-iggy-repeats.h): */
    int         decided;   /* they depend on the bytes up to here, */
    int         needed;    /* on whether there are so many, */
    bool        to_end;    /* and on where the extent ends */
    uint64_t    reg[IGGY_REG_LIMIT];
} iggy_walk_t;

/** Prepare a walk of bytes up to `end` (exclusive) of `pdu->tvb`; `end` is bounded by the frame's reported length. */
void iggy_walk_init(iggy_walk_t *walk, iggy_pdu_t *pdu, iggy_walk_mode_t mode, uint8_t version, int end);

/**
 * Walk rows from `offset`. In mode SHOW adds items to `tree`.
 * @return offset after the last byte read. After a failure: walk->failed is set, the return value is the offset where the
 *         row that did not fit begins.
 */
int iggy_walk_rows(iggy_walk_t *walk, const iggy_row_t *rows, proto_tree *tree, int offset);

/* A row of a fixed length, cut down to what its facts need. */
typedef struct {
    uint8_t  kind, size, put, fact, when; /* as in the row */
    bool     unless;                      /* holds if register[when] != is */
    uint16_t skip;                        /* bytes before it that say nothing */
    uint32_t is;
    const iggy_row_t *row;
} iggy_step_t;

/**
 * Rows of fixed lengths as steps, for their facts in one version: to be made once, stays. Ends with kind IGGY_ROW_END.
 * Rule: a CALL with a size, but without fact and register, does nothing without a tree.
 */
const iggy_step_t *iggy_steps(const iggy_row_t *rows, uint8_t version);

/** The same for a filter's tree (iggy_rows_alone()) and bytes whose facts are known: what no filter can name is passed over. */
const iggy_step_t *iggy_steps_shown(const iggy_row_t *rows, uint8_t version);

/** The same as walking the rows in mode FACTS; all bytes of them have to be in the capture. Returns the offset behind. */
int iggy_walk_steps(iggy_walk_t *walk, const iggy_step_t *steps, int offset);

/** The same as walking the rows with `rows_alone`, for steps of iggy_steps_shown(). */
int iggy_walk_steps_shown(iggy_walk_t *walk, const iggy_step_t *steps, proto_tree *tree, int offset);

/** Note that the layout does not fit at `offset`; `why` is a constant text for the expert item. Returns offset. */
int iggy_walk_fail(iggy_walk_t *walk, const iggy_row_t *row, int offset, const char *why);

/** For calls: whether `length` bytes from `offset` are in the extent and in the capture; else the walk has failed there. */
bool iggy_walk_there(iggy_walk_t *walk, const iggy_row_t *row, int offset, uint64_t length);

/** Whether `rows` in `version` fill offset..end of the frame's bytes exactly. No side effects. */
bool iggy_layout_fits(iggy_pdu_t *pdu, const iggy_row_t *rows, uint8_t version, int offset, int end);

/**
 * The end of a walk over a whole body, mode SHOW: an expert warning naming field and offset, and the rest as bytes, if the
 * rows did not fit; extra data with a note if bytes are left after `offset`.
 */
void iggy_walk_close(iggy_walk_t *walk, proto_tree *tree, int offset);

/** Whether walk shows: mode SHOW, and not beyond the item limit. */
static inline bool iggy_walk_shows(const iggy_walk_t *walk) { return walk->mode == IGGY_WALK_SHOW && !walk->silent; }

/** Whether walk shows, and somebody may look at the field: ours alone. */
bool iggy_walk_wants(const iggy_walk_t *walk, proto_tree *tree, int hf);

/** Append to the line of the enclosing element. */
void iggy_walk_label(iggy_walk_t *walk, const char *before, const char *value, const char *after);

/** Note a fact; does nothing in mode FIT. */
void iggy_walk_note(iggy_walk_t *walk, iggy_fact_t fact, uint64_t value, int offset, int length, const char *text);

/* How rows are written. `...` takes further members: .fact = , .put = , .since = , .when = , .is = , .label = , .flags = ... */
#define IGGY_U8(field, ...)  { .kind = IGGY_ROW_ITEM, .size = 1, .hf = &(field), __VA_ARGS__ }
#define IGGY_U16(field, ...) { .kind = IGGY_ROW_ITEM, .size = 2, .hf = &(field), __VA_ARGS__ }
#define IGGY_U32(field, ...) { .kind = IGGY_ROW_ITEM, .size = 4, .hf = &(field), __VA_ARGS__ }
#define IGGY_U64(field, ...) { .kind = IGGY_ROW_ITEM, .size = 8, .hf = &(field), __VA_ARGS__ }
#define IGGY_FIXED(field, n, ...) { .kind = IGGY_ROW_ITEM, .size = (n), .hf = &(field), __VA_ARGS__ } /* FT_BYTES, FT_GUID */
/* FT_ABSOLUTE_TIME, microseconds since the epoch */
#define IGGY_TIME(field, ...) { .kind = IGGY_ROW_ITEM, .size = 8, .hf = &(field), __VA_ARGS__ }
#define IGGY_RESERVED(n, ...) { .kind = IGGY_ROW_RESERVED, .size = (n), __VA_ARGS__ }
/* add .flags = IGGY_NOT_EMPTY for `name`; without for str8 */
#define IGGY_NAME(field, length, ...) { .kind = IGGY_ROW_TEXT, .size = 1, .hf = &(field), .hf_2 = &(length), __VA_ARGS__ }
#define IGGY_STR32(field, length, ...) { .kind = IGGY_ROW_TEXT, .size = 4, .hf = &(field), .hf_2 = &(length), __VA_ARGS__ }
#define IGGY_SPAN(field, reg, ...) { .kind = IGGY_ROW_SPAN, .hf = &(field), .count = (reg), __VA_ARGS__ }
#define IGGY_REST(field, ...) { .kind = IGGY_ROW_REST, .hf = &(field), __VA_ARGS__ }
#define IGGY_IDENT(id, name, fact_id, ...) \
    { .kind = IGGY_ROW_IDENT, .hf = &(id), .hf_2 = &(name), .fact = (fact_id), __VA_ARGS__ }
#define IGGY_ROWS(array, ...) { .kind = IGGY_ROW_ROWS, .rows = (array), __VA_ARGS__ }
#define IGGY_LIST(reg, array, field, subtree, least, ...) \
    { .kind = IGGY_ROW_LIST, .count = (reg), .rows = (array), .hf = &(field), .ett = &(subtree), .min = (least), __VA_ARGS__ }
#define IGGY_LIST_BARE(reg, array, least, ...) \
    { .kind = IGGY_ROW_LIST, .count = (reg), .rows = (array), .min = (least), __VA_ARGS__ }
#define IGGY_REPEAT(array, field, subtree, ...) \
    { .kind = IGGY_ROW_REPEAT, .rows = (array), .hf = &(field), .ett = &(subtree), __VA_ARGS__ }
#define IGGY_WHILE(reg, array, field, subtree, ...) \
    { .kind = IGGY_ROW_WHILE, .when = (reg), .rows = (array), .hf = &(field), .ett = &(subtree), __VA_ARGS__ }
#define IGGY_BLOCK(n, length, array, field, subtree, ...) \
    { .kind = IGGY_ROW_BLOCK, .size = (n), .hf_2 = &(length), .rows = (array), .hf = &(field), .ett = &(subtree), __VA_ARGS__ }
#define IGGY_EXTENT(reg, array, field, subtree, ...) \
    { .kind = IGGY_ROW_EXTENT, .count = (reg), .rows = (array), .hf = &(field), .ett = &(subtree), __VA_ARGS__ }
#define IGGY_CALL(function, ...) { .kind = IGGY_ROW_CALL, .call = (function), __VA_ARGS__ }
#define IGGY_ROWS_END { .kind = IGGY_ROW_END }

void iggy_register_layout(int proto);

#endif
