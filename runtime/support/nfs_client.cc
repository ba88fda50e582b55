#include "support/nfs_client.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "yamba/must.h"

namespace yamba {
namespace support {

static constexpr uint32_t lookup = 15, getfh = 10, putfh = 22, putrootfh = 24, read_operation = 25;

bool NfsClient::find(std::initializer_list<std::string> names) {
    begin(uint32_t(names.size()) + 2);
    put(putrootfh);
    for (const std::string &name : names) put(lookup), put_text(name);
    put(getfh);
    const uint32_t *at = ask(uint32_t(names.size()) + 2);
    if (at == nullptr) return false;
    at += 2 * (names.size() + 1);  // skips number and status of each operation
    size_t bytes = ntohl(at[2]);
    handle_.assign(at + 2, at + 3 + (bytes + 3) / 4);
    return true;
}

const byte_t *NfsClient::read_at(uint64_t offset, uint32_t bytes) {
    begin(2);
    put(putfh);
    call_.insert(call_.end(), handle_.begin(), handle_.end());
    put(read_operation);
    for (int word = 0; word < 4; word++) put(0);  // the anonymous state
    put(uint32_t(offset >> 32)), put(uint32_t(offset)), put(bytes);
    const uint32_t *at = ask(2);
    if (at == nullptr) yamba::fail("the server refuses to read: status %u", status);
    at += 2;  // skips those of the first operation
    if (ntohl(at[3]) != bytes) yamba::fail("the server sent %u bytes of %u", ntohl(at[3]), bytes);
    return reinterpret_cast<const byte_t *>(at + 4);
}

void NfsClient::put(uint32_t word) { call_.push_back(htonl(word)); }

void NfsClient::put_text(const std::string &text) {
    put(uint32_t(text.size()));
    size_t at = call_.size();
    call_.resize(at + (text.size() + 3) / 4);
    memcpy(&call_[at], text.data(), text.size());
}

void NfsClient::begin(uint32_t operations) {
    call_.clear();
    // Record length, number; a call of RPC version 2; program, version, procedure COMPOUND.
    for (uint32_t word : {0u, ++number_, 0u, 2u, 100003u, 4u, 1u}) put(word);
    // Credentials (AUTH_SYS): stamp, machine, user, group, no other groups; no verifier.
    for (uint32_t word : {1u, 20u, 0u, 0u, uint32_t(geteuid()), uint32_t(getegid()), 0u, 0u, 0u}) put(word);
    for (uint32_t word : {0u, 0u, operations}) put(word);  // no tag; minor version
}

const uint32_t *NfsClient::ask(uint32_t operations) {
    call_[0] = htonl(0x80000000u | uint32_t(4 * (call_.size() - 1)));
    must(send(stream, call_.data(), 4 * call_.size(), MSG_NOSIGNAL) == ssize_t(4 * call_.size()));
    uint32_t mark = 0;
    receive(&mark, sizeof mark);
    uint32_t bytes = ntohl(mark) & 0x7fffffff;
    if ((ntohl(mark) >> 31) == 0 || bytes < 40 || bytes > (64u << 20))
        yamba::fail("the server's answer is not one record of a fitting length");
    answer_.resize((bytes + 3) / 4);
    receive(answer_.data(), bytes);
    // Number, answer, accepted, verifier (kind, length), success.
    if (ntohl(answer_[0]) != number_ || ntohl(answer_[1]) != 1 || answer_[2] != 0 || answer_[4] != 0 || answer_[5] != 0)
        yamba::fail("the server refuses the call");
    status = ntohl(answer_[6]);
    const uint32_t *after_tag = &answer_[8] + (ntohl(answer_[7]) + 3) / 4;
    return status == 0 && ntohl(*after_tag) == operations ? after_tag + 1 : nullptr;
}

void NfsClient::receive(void *to, size_t bytes) {
    if (must(recv(stream, to, bytes, MSG_WAITALL)) != ssize_t(bytes)) yamba::fail("the server has gone away");
}

}  // namespace support
}  // namespace yamba
