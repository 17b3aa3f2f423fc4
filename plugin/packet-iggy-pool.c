/* packet-iggy-pool.c
 * Objects of one size in the file's memory, by number.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-pool.h"

#include <string.h>

void *iggy_pool_add(iggy_pool_t *pool, size_t size)
{
    uint32_t chunk = pool->count >> IGGY_POOL_SHIFT, at = pool->count & ((1u << IGGY_POOL_SHIFT) - 1);
    if (chunk == pool->chunks_room) {
        pool->chunks_room = chunk ? 2 * chunk : 4;
        pool->chunks = (void **)wmem_realloc(wmem_file_scope(), pool->chunks, pool->chunks_room * sizeof *pool->chunks);
    }
    if (!at)
        pool->chunks[chunk] = wmem_alloc(wmem_file_scope(), size << IGGY_POOL_SHIFT);
    pool->count++;
    return memset((uint8_t *)pool->chunks[chunk] + at * size, 0, size);
}
