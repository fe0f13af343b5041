// Messages between keepers: over Unix sockets on a node (with descriptors), over TCP between
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/team/nodes.hpp"

namespace strata::team {

/// One message. Both ends are the same program on machines of one kind, so it is sent as it is in memory.
struct Message {
    enum class Kind : std::uint32_t {
        place,   // member -> its keeper: its node and numbers
        here,    // keeper of a leader -> its member: names and addresses to call it by
        join,    // member -> its keeper: these names
        arena,   // with the arena's descriptor, for a member
        failed,  // member -> its keeper: it cannot join, and prints the reason itself
        hello,   // the first on a line between keepers: the sender's introduction
        beat,    // between nodes, once a second
        lost,    // a member is gone
        ready,   // the members on this end have only MPI_Finalize left to call
        finish,  // all members of the team have: they call it now
        gone,    // no member is alive on this end any more
        end      // no member is alive on any node
    };
    Kind kind = Kind::beat;
    std::int32_t member = 0, pid = 0, status = 0;  // of `lost`; of `hello`: the rank
    Where where = {};
    std::uint64_t capacity = 0, token = 0, network_token = 0;
    char name[32] = {};   // of the Unix socket on this node
    char text[440] = {};  // the end of a member; addresses

    void say(const std::string& words);
};

/// Sends; false when the other end is gone or does not take the message.
bool send_message(int socket, const Message& message, int descriptor = -1) noexcept;

/// A message received over a line of packets. No message: not yet; `closed`: never any more.
struct Received {
    std::optional<Message> message;
    int descriptor = -1;
    bool closed = false;
};
[[nodiscard]] Received receive_message(int socket);
/// Waits for a message; throws Error when the line closes first.
[[nodiscard]] Received await_message(int socket);

/// A line over TCP, where messages may arrive in pieces.
class Stream {
  public:
    explicit Stream(int socket) : socket_(socket) {}
    [[nodiscard]] int socket() const { return socket_; }
    [[nodiscard]] Received receive();

  private:
    int socket_;
    std::size_t have_ = 0;
    alignas(Message) std::byte piece_[sizeof(Message)] = {};
};

/// A listening socket without a file: its name is abstract and disappears when the socket closes.
struct Listening {
    int socket = -1;
    std::string name;  // of a Unix socket; "address,address,...:port" of TCP
};
[[nodiscard]] Listening listen_on_node(std::uint64_t token);
[[nodiscard]] Listening listen_on_network();
/// A line to the process that listens there; -1 when there is none. For TCP every address is tried, each for
/// at most two seconds.
[[nodiscard]] int call_on_node(const std::string& name);
[[nodiscard]] int call_on_network(const std::string& addresses);

}  // namespace strata::team
