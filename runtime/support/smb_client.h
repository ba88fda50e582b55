// A client of SMB version 2.1 that opens a file of a share as an anonymous user and reads it. It
// sends one request at a time over TCP, keeps nothing, and neither signs nor encrypts.
//
// Messages are those of Microsoft's [MS-SMB2]: a header of 64 bytes, then the fields of the
// command; numbers have their lowest byte first.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "yamba/subject.h"

namespace yamba {
namespace support {

class SmbClient {
  public:
    int stream = -1;      // to the server; the caller opens it
    uint32_t status = 0;  // of the last answer

    // Opens a file of a share. Returns null, or the step that failed.
    const char *open(const std::string &share, const std::string &name);
    // Reads `bytes` bytes from `offset` of the open file.
    const byte_t *read_at(uint64_t offset, uint32_t bytes);

  private:
    enum Command { negotiate = 0, session_setup = 1, tree_connect = 3, create = 5, read_command = 8 };

    void put(uint64_t value, size_t bytes);
    void put_wide_length(const std::string &text);
    void begin(Command command);
    // Sends the call and waits for its answer. Returns whether its status is success.
    bool ask();
    void receive();
    // Reads the last `bytes` bytes of the answer.
    void take(size_t bytes);
    void log_in(const std::string &token);

    uint64_t number_ = 0, session_ = 0;
    uint32_t tree_ = 0;
    std::string file_;           // the server's identifier of the open file
    std::string call_, answer_;  // with the length before the header
};

}  // namespace support
}  // namespace yamba
