# XXH3-64 (seed 0, default secret) in plain Python, as a second opinion on checksums.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""xxh3_64(data) -> int. Written after the algorithm's public description; slow, for tests only."""

import struct

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PMX_1, PMX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def _u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def _u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def _fold(left, right):
    product = left * right
    return (product & MASK) ^ (product >> 64)


def _swap64(value):
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _avalanche(value):
    value ^= value >> 37
    value = value * PMX_1 & MASK
    return value ^ value >> 32


def _avalanche64(value):
    value ^= value >> 33
    value = value * P64_2 & MASK
    value ^= value >> 29
    value = value * P64_3 & MASK
    return value ^ value >> 32


def _mix16(data, at, secret):
    return _fold(_u64(data, at) ^ _u64(SECRET, secret), _u64(data, at + 8) ^ _u64(SECRET, secret + 8))


def _short(data):
    n = len(data)
    if n == 0:
        return _avalanche64(_u64(SECRET, 56) ^ _u64(SECRET, 64))
    if n < 4:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return _avalanche64(combined ^ (_u32(SECRET, 0) ^ _u32(SECRET, 4)))
    if n <= 8:
        keyed = (_u32(data, n - 4) + (_u32(data, 0) << 32)) ^ (_u64(SECRET, 8) ^ _u64(SECRET, 16))
        keyed ^= (keyed << 49 | keyed >> 15) & MASK ^ (keyed << 24 | keyed >> 40) & MASK
        keyed = keyed * PMX_2 & MASK
        keyed ^= (keyed >> 35) + n
        keyed = keyed * PMX_2 & MASK
        return keyed ^ keyed >> 28
    low = _u64(data, 0) ^ (_u64(SECRET, 24) ^ _u64(SECRET, 32))
    high = _u64(data, n - 8) ^ (_u64(SECRET, 40) ^ _u64(SECRET, 48))
    return _avalanche((n + _swap64(low) + high + _fold(low, high)) & MASK)


def _middle(data):
    n = len(data)
    total = n * P64_1 & MASK
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            total += _mix16(data, 16 * i, 32 * i) + _mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return _avalanche(total & MASK)
    for i in range(8):
        total += _mix16(data, 16 * i, 16 * i)
    total = _avalanche(total & MASK)
    last = _mix16(data, n - 16, 136 - 17)
    for i in range(8, n // 16):
        total += _mix16(data, 16 * i, 16 * (i - 8) + 3)
    return _avalanche((total + last) & MASK)


def _accumulate(lanes, data, at, secret):
    words = struct.unpack_from("<8Q", data, at)
    keys = struct.unpack_from("<8Q", SECRET, secret)
    for i in range(8):
        keyed = words[i] ^ keys[i]
        lanes[i ^ 1] = (lanes[i ^ 1] + words[i]) & MASK
        lanes[i] = (lanes[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32)) & MASK


def _long(data):
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes = (len(SECRET) - 64) // 8
    block = 64 * stripes
    blocks = (len(data) - 1) // block
    for b in range(blocks):
        for s in range(stripes):
            _accumulate(lanes, data, b * block + s * 64, s * 8)
        for i, key in enumerate(struct.unpack_from("<8Q", SECRET, len(SECRET) - 64)):
            lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ key) * P32_1 & MASK
    for s in range((len(data) - 1 - block * blocks) // 64):
        _accumulate(lanes, data, blocks * block + s * 64, s * 8)
    _accumulate(lanes, data, len(data) - 64, len(SECRET) - 64 - 7)
    total = len(data) * P64_1 & MASK
    for i in range(4):
        total += _fold(lanes[2 * i] ^ _u64(SECRET, 11 + 16 * i), lanes[2 * i + 1] ^ _u64(SECRET, 19 + 16 * i))
    return _avalanche(total & MASK)


def xxh3_64(data):
    if len(data) <= 16:
        return _short(data)
    if len(data) <= 240:
        return _middle(data)
    return _long(data)
