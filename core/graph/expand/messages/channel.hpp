// Messages between processes of different nodes, round after round.
//
//   pack     any thread: values of several patches, one after the other, into a buffer
//   send     the thread that speaks MPI
//   receive  the same, at the other end
//   unpack   any thread: to images of the patches that have the values; readers look there
//
// Each end has two buffers that are used in turn: while one is under way the next is packed, and a message
// may come before the one before has been put in place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/calls/calls.hpp"
#include "core/graph/expand/particles/particle_halo.hpp"
#include "core/graph/expand/particles/relocate.hpp"

namespace strata::graph {

/// One end of a stream of messages from one process to another, one for each round of a scope.
class Channel {
  public:
    /// Does nothing.
    Channel() = default;
    /// `tag`: tells streams of the same two processes apart.
    Channel(const Members& members, int peer, int tag);

    /// The room for a round's message. Messages of one length for all rounds are given it once, at both ends,
    /// and are expected before they come (listen()); others are as long as the sender's room.
    [[nodiscard]] std::span<std::byte> room(Epoch round) {
        return std::span(rooms_[round & 1U]).first(length(round));
    }
    void make_room(Epoch round, std::size_t bytes);
    void make_rooms(std::size_t bytes);
    [[nodiscard]] int peer() const { return peer_; }
    [[nodiscard]] int tag() const { return tag_; }
    [[nodiscard]] bool has_fixed_length() const { return fixed_; }

    /// Sends the room of this round, once. True when that of the round before may be written again.
    [[nodiscard]] bool send(Epoch round);
    /// In place of send() where this round has no message. Both ends know that: the other one does not
    /// receive.
    [[nodiscard]] bool pass(Epoch round);
    /// True when this round's message has come; then the next one is expected.
    [[nodiscard]] bool receive(Epoch round);
    /// Of a scope that runs once: no message is expected after the first.
    void expect_one() { once_ = true; }
    /// The first message that is expected is that of this round.
    void listen(Epoch round);
    /// No message is expected any more, and all sent ones have been taken.
    void stop();

  private:
    [[nodiscard]] std::size_t length(Epoch round) const { return rooms_[round & 1U].size() - stamp_; }
    [[nodiscard]] bool has_travelled(Epoch round);

    const Members* members_ = nullptr;
    int peer_ = -1, tag_ = 0;
    std::size_t stamp_ = 0;  // bytes after each message with the time of sending
    bool fixed_ = false, once_ = false, sends_ = false;
    std::vector<std::byte> rooms_[2];
    team::Messages::Request under_way_[2] = {team::Messages::kNone, team::Messages::kNone};
    Epoch begun_ = 0;  // the last round that was sent, or of which the message was found
};

/// Values to or from a message: a box, or entries of a list.
struct Parcel {
    RoundAddress values;                    // the first value
    BoxCopy box;                            // its geometry; the other side is packed
    std::span<const std::int32_t> entries;  // of a list, counted from its first value
    std::int64_t component = 0;             // lists: bytes to the next component
    bool list = false;

    [[nodiscard]] std::size_t bytes() const;
    /// Return the place after it in the message.
    std::byte* pack(const std::byte* values, std::byte* message) const;
    const std::byte* unpack(const std::byte* message, std::byte* values) const;
};

[[nodiscard]] inline std::size_t bytes_of(std::span<const Parcel> parcels) {
    std::size_t all = 0;
    for (const Parcel& each : parcels) all += each.bytes();
    return all;
}

/// Particles that are in a halo on another node: in messages, and between steps.
struct ParticleParcel {
    /// all: of a patch that were relocated or made; in_halo: those that are in halos at the other end;
    /// back: contributions to them.
    enum class What : std::uint8_t { all, in_halo, back } what = What::all;
    ParticleColumn column;
    ParticlePatch* patch = nullptr;      // whose they are; at the other end: its image
    std::span<const HaloPlaces> places;  // one after the other in the message
    HaloList* list = nullptr;            // back: what the task added; at the other end: what came
    std::int64_t* begins = nullptr;      // back, at the other end: [places] where in the list
    Populations* populations = nullptr;

    [[nodiscard]] std::size_t bytes() const;
    std::byte* pack(std::byte* message) const;
    const std::byte* unpack(const std::byte* message) const;

  private:
    [[nodiscard]] std::int64_t count() const;
};

struct PackCall {
    Channel* channel = nullptr;
    std::span<const Parcel> parcels;
    std::span<const ParticleParcel> particles;  // after them, in messages whose lengths are their own
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};

struct SendCall {
    Channel* channel = nullptr;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};

struct ReceiveCall {
    Channel* channel = nullptr;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};

struct UnpackCall {
    Channel* channel = nullptr;
    std::span<const Parcel> parcels;
    std::span<const ParticleParcel> particles;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};

/// Particles that go to the patches of another process: first the leavers (Leaver, by patch), then their
/// values, in columns as in the arrays that they come from.
struct PackLeaversCall {
    const SetRelocation* of = nullptr;
    Channel* channel = nullptr;
    std::span<const PatchLeavers* const> patches;  // each [2]
    std::span<const int> owner;                    // [patch]
    int process = -1;
    static Outcome go(void* what, Worker& worker);

  private:
    struct LeaverToPack {
        std::int32_t to, at;
        const ParticleArrays* from;
    };
    std::vector<LeaverToPack> goes_;
};

/// Shows them as the leavers of one patch.
struct ReceiveLeaversCall {
    const SetRelocation* of = nullptr;
    Channel* channel = nullptr;
    PatchLeavers shown[2];
    static Outcome go(void* what, Worker& worker);
};

}  // namespace strata::graph
