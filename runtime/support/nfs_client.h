// A client of NFS version 4.0 that looks a file up and reads it. It sends one request at a time
// over TCP and keeps nothing.
//
// A request is a call of the remote procedure COMPOUND (RFC 5531, RFC 7530) with a few operations.
// Reads use the anonymous state identifier, so no state has to be held or renewed.
#pragma once

#include <stdint.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "yamba/subject.h"

namespace yamba {
namespace support {

class NfsClient {
  public:
    int stream = -1;      // to the server; the caller opens it
    uint32_t status = 0;  // of the last call

    // Finds a file by its path from the server's root, one name after the other. Returns whether it
    // exists.
    bool find(std::initializer_list<std::string> names);
    // Reads `bytes` bytes from `offset` of the file that was found.
    const byte_t *read_at(uint64_t offset, uint32_t bytes);

  private:
    void put(uint32_t word);
    void put_text(const std::string &text);
    void begin(uint32_t operations);
    // Sends the call. Returns the first operation of its answer, or null if not all operations
    // succeeded.
    const uint32_t *ask(uint32_t operations);
    void receive(void *to, size_t bytes);

    std::vector<uint32_t> handle_;         // of the file, as it is sent: its length, then its bytes
    std::vector<uint32_t> call_, answer_;  // in the network's byte order
    uint32_t number_ = 0;
};

}  // namespace support
}  // namespace yamba
