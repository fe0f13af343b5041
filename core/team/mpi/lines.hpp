// Messages between keepers: over Unix sockets on a node (with descriptors), over TCP between nodes.
//
// Other users are strangers. On a node the kernel says whether the other end is this user's; nothing is said
// to others. Between nodes each end proves with every message that it knows the secret of its run (Stream).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/sha256.hpp"
#include "core/team/nodes.hpp"

namespace strata::team {

/// Time for a caller to prove that it belongs to the run, how many beside those who are expected are kept at
/// a time, and how many are let in before who keeps the door looks at anything else: some keep calling.
inline constexpr auto kStrangerStays = std::chrono::seconds(1);
inline constexpr std::size_t kStrangers = 8;
inline constexpr int kCallsAtOnce = 64;

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
    std::uint64_t capacity = 0;
    Bytes32 token = {}, network_token = {};  // secrets: of the members of a node, of the nodes of a run
    char name[32] = {};                      // of the Unix socket on this node
    char text[440] = {};                     // the end of a member; addresses

    void say(const std::string& words);
};

/// Sends; false when the other end is gone or does not take the message.
bool send_message(int socket, const Message& message, int descriptor = -1) noexcept;

/// A message received over a line of packets. No message: not yet; `closed`: never any more. What is no
/// message (of another size or kind, texts without end, a place that no team has) closes the line. Only
/// `arena` and `here` bring a descriptor; any other is closed.
struct Received {
    std::optional<Message> message;
    int descriptor = -1;
    bool closed = false;
};
[[nodiscard]] Received receive_message(int socket);
/// Waits for a message; throws Error when the line closes first.
[[nodiscard]] Received await_message(int socket);

/// A line over TCP between two ends that know a secret. Messages may arrive in pieces.
///
/// Each end first sends 32 random bytes. Of both and the secret follows the line's own key; a message is
/// followed by its code under that key (HMAC of its direction, its number and itself). So a message that
/// somebody else makes, or that somebody heard on this line or another one and says again, closes the line.
class Stream {
  public:
    /// `calls`: this end has called the other. Throws Error.
    Stream(int socket, const Bytes32& secret, bool calls);
    [[nodiscard]] int socket() const { return socket_; }
    /// Whether the other's random bytes have arrived, without which nothing can be sent.
    [[nodiscard]] bool ready() const { return key_.has_value(); }
    [[nodiscard]] Received receive();
    /// False when the other end is gone or does not take the message.
    bool send(const Message& message) noexcept;

  private:
    [[nodiscard]] Bytes32 code(const Message& message, bool from_caller, std::uint64_t number) const;

    int socket_;
    bool calls_;
    Bytes32 secret_, mine_;  // mine: this end's random bytes
    std::optional<Bytes32> key_;
    std::uint64_t sent_ = 0, received_ = 0;  // messages
    std::size_t have_ = 0;
    std::byte piece_[sizeof(Message) + sizeof(Bytes32)] = {};
};

/// A listening socket without a file: its name is abstract and disappears when the socket closes.
struct Listening {
    int socket = -1;
    std::string name;  // of a Unix socket; "address,address,...:port" of TCP
};
/// The name on the node is random; whoever reads it (/proc/net/unix) knows nothing by it.
[[nodiscard]] Listening listen_on_node();
/// In a job of Slurm's on the interface by which its nodes know this one, else on all.
[[nodiscard]] Listening listen_on_network();
/// A line to the process of this user that listens there; -1 when there is none. For TCP every address is
/// tried, each for at most two seconds.
[[nodiscard]] int call_on_node(const std::string& name);
[[nodiscard]] int call_on_network(const std::string& addresses);

}  // namespace strata::team
