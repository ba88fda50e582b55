#include "support/smb_client.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "yamba/must.h"

namespace yamba {
namespace support {

static constexpr uint32_t pending = 0x103, more_processing = 0xc0000016;
static constexpr size_t header = 64, before = 4;

static uint64_t get(const std::string &from, size_t at, size_t bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | uint8_t(from[before + at + bytes]);
    return value;
}

static std::string wide(const std::string &text) {
    std::string units;
    for (char c : text) units += c, units += '\0';
    return units;
}

// NTLM messages ([MS-NLMP]) of a client without name and password.
static std::string hello() { return std::string("NTLMSSP\0\1\0\0\0\5\2\0\0", 16) + std::string(16, '\0'); }

static std::string anonymous() {
    std::string token("NTLMSSP\0\3\0\0\0", 12);
    token += std::string("\1\0\1\0\x40\0\0\0", 8);  // an empty password: one byte, at 64
    for (int field = 0; field < 5; field++) token += std::string("\0\0\0\0\x40\0\0\0", 8);
    return token + std::string("\5\x0a\0\0\0", 5);
}

const char *SmbClient::open(const std::string &share, const std::string &name) {
    begin(negotiate);
    put(36, 2), put(1, 2), put(1, 2), put(0, 30), put(0x210, 2);  // one dialect: 2.1
    if (!ask()) return "agree on SMB 2.1";
    if (log_in(hello()), status != more_processing) return "begin to log in";
    session_ = get(answer_, 40, 8);
    if (log_in(anonymous()), status != 0) return "log in as nobody";
    begin(tree_connect);
    put(9, 2), put(0, 2), put(header + 8, 2), put_wide_length("\\\\far\\" + share), call_ += wide("\\\\far\\" + share);
    if (!ask()) return "enter the share";
    tree_ = uint32_t(get(answer_, 36, 4));
    begin(create);
    put(57, 2), put(0, 2), put(2, 4), put(0, 16);
    put(0x120089, 4), put(0, 4), put(7, 4), put(1, 4), put(0x40, 4);  // read access, shared, must exist, not a folder
    put(header + 56, 2), put_wide_length(name), put(0, 8), call_ += wide(name);
    if (!ask()) return "open the file";
    file_ = answer_.substr(before + header + 64, 16);
    return nullptr;
}

const byte_t *SmbClient::read_at(uint64_t offset, uint32_t bytes) {
    begin(read_command);
    put(49, 2), put(0x50, 2), put(bytes, 4), put(offset, 8), call_ += file_, put(bytes, 4), put(0, 13);
    if (!ask()) yamba::fail("the server refuses to read: status %#x", status);
    size_t at = size_t(get(answer_, header + 2, 1)), sent = size_t(get(answer_, header + 4, 4));
    if (sent != bytes || before + at + sent > answer_.size()) yamba::fail("the server sent %zu bytes of %u", sent, bytes);
    return reinterpret_cast<const byte_t *>(answer_.data()) + before + at;
}

void SmbClient::put(uint64_t value, size_t bytes) {
    for (; bytes > 0; bytes--, value >>= 8) call_ += char(value);
}

void SmbClient::put_wide_length(const std::string &text) { put(2 * text.size(), 2); }

void SmbClient::begin(Command command) {
    call_.assign(before, '\0');
    call_ += "\xfeSMB";
    put(header, 2), put(1, 2), put(0, 4), put(command, 2), put(1, 2),
        put(0, 8);  // asks for one credit, which the next request uses
    put(number_++, 8), put(0, 4), put(tree_, 4), put(session_, 8), put(0, 16);
}

bool SmbClient::ask() {
    size_t bytes = call_.size() - before;
    for (size_t i = 0; i < before; i++) call_[i] = char(bytes >> (8 * (before - 1 - i)));
    must(send(stream, call_.data(), call_.size(), MSG_NOSIGNAL) == ssize_t(call_.size()));
    do receive();
    while (status == pending);
    return status == 0;
}

void SmbClient::receive() {
    answer_.resize(before);
    take(before);
    size_t bytes = 0;
    for (size_t i = 1; i < before; i++) bytes = bytes << 8 | uint8_t(answer_[i]);
    if (bytes < header + 8) yamba::fail("the server's answer is no message of SMB 2");
    answer_.resize(before + bytes);
    take(bytes);
    status = uint32_t(get(answer_, 8, 4));
}

void SmbClient::take(size_t bytes) {
    if (must(recv(stream, &answer_[answer_.size() - bytes], bytes, MSG_WAITALL)) != ssize_t(bytes))
        yamba::fail("the server has gone away");
}

void SmbClient::log_in(const std::string &token) {
    begin(session_setup);
    put(25, 2), put(0, 1), put(1, 1), put(0, 8), put(header + 24, 2), put(token.size(), 2), put(0, 8), call_ += token;
    ask();
}

}  // namespace support
}  // namespace yamba
