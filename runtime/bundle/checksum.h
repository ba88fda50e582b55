// CRC-32, with the polynomial of Ethernet and zlib.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace bundle {

inline uint32_t crc32(const void *data, size_t size) {
    static uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
        table[i] = value;
    }
    uint32_t crc = ~0u;
    for (const uint8_t *p = static_cast<const uint8_t *>(data); size-- > 0; p++) crc = table[(crc ^ *p) & 255] ^ crc >> 8;
    return ~crc;
}

}  // namespace bundle
