// What the targets of keepers share: what is to be done as bytes, and the words that keepers hear.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "core/team/mpi/lines.hpp"

namespace strata::fuzz {

/// What is to be done, byte by byte; zeros behind its end.
struct Script {
    std::string_view text;
    unsigned byte() {
        if (text.empty()) return 0;
        const unsigned first = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        return first;
    }
    std::string_view bytes(std::size_t most) {
        const std::string_view part = text.substr(0, most);
        text.remove_prefix(part.size());
        return part;
    }
};

inline team::Message hello_of(int node, const Bytes32& token) {
    team::Message hello{.kind = team::Message::Kind::hello};
    hello.where = {.rank = node, .size = 3, .node = node, .nodes = 3, .local_rank = 0, .local_size = 1};
    hello.token = token;
    return hello;
}

/// A message of any kind, with any bytes at its beginning or its end.
inline team::Message any_message(Script& script, const Bytes32& token) {
    team::Message message = hello_of(static_cast<int>(script.byte() % 3), token);
    message.kind = static_cast<team::Message::Kind>(script.byte() % 14);
    const unsigned way = script.byte();
    const std::string_view part = script.bytes(way % 64);
    std::memcpy(reinterpret_cast<char*>(&message) + (way >= 128 ? sizeof message - part.size() : 0),
                part.data(), part.size());
    return message;
}

/// Closed without leaving the port in use for a while.
inline void hang_up(int line) {
    const linger at_once{1, 0};
    setsockopt(line, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(line);
}

/// The number that a descriptor would get now: another one after an input was left open by it.
inline int least_free() {
    const int next = dup(STDERR_FILENO);
    close(next);
    return next;
}

}  // namespace strata::fuzz
