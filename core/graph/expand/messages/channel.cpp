#include "core/graph/expand/messages/channel.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>

namespace strata::graph {

namespace {

double seconds_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

Channel::Channel(const Members& members, int peer, int tag)
    : members_(&members),
      peer_(peer),
      tag_(tag),
      stamp_(members.message_delay > 0 ? sizeof(double) : 0),
      rooms_{std::vector<std::byte>(stamp_), std::vector<std::byte>(stamp_)} {}

void Channel::make_room(Epoch round, std::size_t bytes) { rooms_[round & 1U].resize(bytes + stamp_); }

void Channel::make_rooms(std::size_t bytes) {
    fixed_ = true;
    make_room(0, bytes);
    make_room(1, bytes);
}

bool Channel::send(Epoch round) {
    if (begun_ != round) {
        begun_ = round;
        sends_ = true;
        std::vector<std::byte>& room = rooms_[round & 1U];
        if (stamp_ > 0) {
            const double now = seconds_now();
            std::memcpy(room.data() + length(round), &now, sizeof now);
        }
        under_way_[round & 1U] = members_->messages->send(peer_, tag_, room);
    }
    return members_->messages->done(under_way_[(round + 1) & 1U]);
}

bool Channel::pass(Epoch round) { return members_->messages->done(under_way_[(round + 1) & 1U]); }

void Channel::listen(Epoch round) {
    if (fixed_) under_way_[round & 1U] = members_->messages->receive(peer_, tag_, rooms_[round & 1U]);
}

bool Channel::receive(Epoch round) {
    if (!fixed_ && begun_ != round) {
        const auto bytes = members_->messages->arriving(peer_, tag_);
        if (!bytes) return false;
        begun_ = round;
        rooms_[round & 1U].resize(*bytes);
        under_way_[round & 1U] = members_->messages->receive(peer_, tag_, rooms_[round & 1U]);
    }
    if (!members_->messages->done(under_way_[round & 1U]) || !has_travelled(round)) return false;
    if (fixed_ && !once_) listen(round + 1);
    return true;
}

bool Channel::has_travelled(Epoch round) {
    if (stamp_ == 0) return true;
    double sent = 0;
    std::memcpy(&sent, rooms_[round & 1U].data() + length(round), sizeof sent);
    return seconds_now() >= sent + members_->message_delay;
}

void Channel::stop() {
    for (team::Messages::Request& request : under_way_)
        sends_ ? members_->messages->wait(request) : members_->messages->cancel(request);
}

std::size_t Parcel::bytes() const {
    if (!list) return static_cast<std::size_t>(box.volume());
    return entries.size() * static_cast<std::size_t>(box.components) * box.bytes;
}

std::byte* Parcel::pack(const std::byte* values, std::byte* message) const {
    if (!list) {
        BoxCopy copy = box;
        copy.from = values;
        return pack_box(copy, message);
    }
    for (int c = 0; c < box.components; ++c)
        for (const std::int64_t entry : entries) {
            std::memcpy(message, values + c * component + entry * box.bytes, box.bytes);
            message += box.bytes;
        }
    return message;
}

const std::byte* Parcel::unpack(const std::byte* message, std::byte* values) const {
    if (!list) {
        BoxCopy copy = box;
        copy.to = values;
        return unpack_box(copy, message);
    }
    for (int c = 0; c < box.components; ++c)
        for (const std::int64_t entry : entries) {
            std::memcpy(values + c * component + entry * box.bytes, message, box.bytes);
            message += box.bytes;
        }
    return message;
}

Outcome PackCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackCall*>(what);
    const Epoch round = worker.epoch(call.scope);
    if (!call.particles.empty()) {
        std::size_t bytes = 0;
        for (const Parcel& each : call.parcels) bytes += each.bytes();
        for (const ParticleParcel& each : call.particles) bytes += each.bytes();
        call.channel->make_room(round, bytes);
    }
    std::byte* next = call.channel->room(round).data();
    for (const Parcel& each : call.parcels) next = each.pack(each.values.at(worker), next);
    for (const ParticleParcel& each : call.particles) next = each.pack(next);
    return Outcome::done;
}

Outcome SendCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const SendCall*>(what);
    return call.channel->send(worker.epoch(call.scope)) ? Outcome::done : Outcome::later;
}

Outcome ReceiveCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const ReceiveCall*>(what);
    return call.channel->receive(worker.epoch(call.scope)) ? Outcome::done : Outcome::later;
}

Outcome UnpackCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const UnpackCall*>(what);
    const std::byte* next = call.channel->room(worker.epoch(call.scope)).data();
    for (const Parcel& each : call.parcels) next = each.unpack(next, each.values.at(worker));
    for (const ParticleParcel& each : call.particles) next = each.unpack(next);
    return Outcome::done;
}

namespace {

constexpr std::size_t kLine = 64;

std::size_t in_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// How a message with so many particles is divided.
struct Layout {
    Layout(const SetRelocation& of, std::size_t count)
        : columns(in_lines(sizeof(std::int64_t) + count * sizeof(Leaver))),
          capacity(static_cast<std::int64_t>(in_lines(count))) {
        ParticleArrays arrays{nullptr, capacity};
        std::int64_t last = 0;
        for (const ParticleColumn& column : of.moved)
            last = std::max(
                last, column.before * capacity + column.padded + column.components * column.stride(arrays));
        end = columns + static_cast<std::size_t>(last);
    }
    std::size_t columns, end = 0;  // where they begin, and the message ends
    std::int64_t capacity;
};

}  // namespace

Outcome PackLeaversCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<PackLeaversCall*>(what);
    const Epoch round = worker.epoch(call.of->scope);
    std::vector<LeaverToPack>& goes = call.goes_;
    goes.clear();
    for (const PatchLeavers* each : call.patches) {
        const PatchLeavers& theirs = each[round & 1U];
        for (std::int64_t i = 0; i < theirs.count; ++i)
            if (call.owner[static_cast<std::size_t>(theirs.leavers[i].to)] == call.process)
                goes.push_back({theirs.leavers[i].to, theirs.leavers[i].at, &theirs.from});
    }
    std::stable_sort(goes.begin(), goes.end(),
                     [](const LeaverToPack& a, const LeaverToPack& b) { return a.to < b.to; });
    const Layout division(*call.of, goes.size());
    call.channel->make_room(round, division.end);
    std::byte* message = call.channel->room(round).data();
    const auto count = static_cast<std::int64_t>(goes.size());
    std::memcpy(message, &count, sizeof count);
    auto* leavers = reinterpret_cast<Leaver*>(message + sizeof count);
    for (std::size_t i = 0; i < goes.size(); ++i) leavers[i] = {goes[i].to, static_cast<std::int32_t>(i)};
    const ParticleArrays packed{message + division.columns, division.capacity};
    for (const ParticleColumn& column : call.of->moved)
        for (int c = 0; c < column.components; ++c) {
            std::byte* to = column.at(packed) + c * column.stride(packed);
            for (const LeaverToPack& each : goes) {
                std::memcpy(to,
                            column.at(*each.from) + c * column.stride(*each.from) + each.at * column.bytes,
                            static_cast<std::size_t>(column.bytes));
                to += column.bytes;
            }
        }
    return Outcome::done;
}

Outcome ReceiveLeaversCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<ReceiveLeaversCall*>(what);
    const Epoch round = worker.epoch(call.of->scope);
    if (!call.channel->receive(round)) return Outcome::later;
    std::byte* message = call.channel->room(round).data();
    PatchLeavers& shown = call.shown[round & 1U];
    std::memcpy(&shown.count, message, sizeof shown.count);
    shown.leavers = reinterpret_cast<Leaver*>(message + sizeof shown.count);
    const Layout division(*call.of, static_cast<std::size_t>(shown.count));
    shown.from = {message + division.columns, division.capacity};
    return Outcome::done;
}

}  // namespace strata::graph
