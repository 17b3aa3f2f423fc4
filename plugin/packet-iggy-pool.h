/* packet-iggy-pool.h
 * Objects of one size in the file's memory, by number: 4 bytes point to one, and none has a header of its own.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_POOL_H
#define PACKET_IGGY_POOL_H

#include "packet-iggy.h"

#define IGGY_POOL_SHIFT 6u /* objects of a chunk */

/* All zero is empty. Whoever has one makes it so when the file is closed: the memory is gone then. */
typedef struct {
    void   **chunks;
    uint32_t chunks_room;
    uint32_t count; /* numbers run from 1 to count; 0 is none */
} iggy_pool_t;

/** A new object of `size` bytes, all zero; its number is pool->count then. Objects never move, and live as long as the file. */
void *iggy_pool_add(iggy_pool_t *pool, size_t size);

/** The object of this number, NULL for 0 and for numbers that no object has. */
static inline void *iggy_pool_at(const iggy_pool_t *pool, size_t size, uint32_t number)
{
    uint32_t place = number - 1;
    if (place >= pool->count)
        return NULL;
    return (uint8_t *)pool->chunks[place >> IGGY_POOL_SHIFT] + (place & ((1u << IGGY_POOL_SHIFT) - 1)) * size;
}

#endif
