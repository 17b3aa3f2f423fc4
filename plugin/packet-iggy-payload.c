/* packet-iggy-payload.c
 * Payloads of messages: bytes, and text where they are printable.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-payload.h"

static int hf_iggy_message_payload = IGGY_UNREGISTERED;
static int hf_iggy_message_payload_text = IGGY_UNREGISTERED;

#define TEXT_LIMIT 65536 /* bytes of a payload that are looked at as text */

/* UTF-8 without control characters but tab and the ends of lines. */
static bool is_text(const uint8_t *bytes, int length)
{
    if (!g_utf8_validate((const char *)bytes, length, NULL))
        return false;
    for (int i = 0; i < length; i++)
        if ((bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r') || bytes[i] == 0x7f)
            return false;
    return true;
}

bool iggy_payload_wanted(proto_tree *tree _U_)
{
    return false;
}

void iggy_show_payload(iggy_walk_t *walk, proto_tree *tree, int offset, int length)
{
    if (length <= 0)
        return;
    proto_tree_add_item(tree, hf_iggy_message_payload, walk->tvb, offset, length, ENC_NA);
    walk->items++;
    if (length > TEXT_LIMIT || !is_text(tvb_get_ptr(walk->tvb, offset, length), length))
        return;
    proto_tree_add_item(tree, hf_iggy_message_payload_text, walk->tvb, offset, length, ENC_UTF_8 | ENC_NA);
    walk->items++;
}

void iggy_register_payload(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_message_payload,
          { "Payload", "iggy.message.payload", FT_BYTES, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_payload_text,
          { "Payload as text", "iggy.message.payload_text", FT_STRING, BASE_NONE, NULL, 0x0, "Where it is printable UTF-8", HFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
}
