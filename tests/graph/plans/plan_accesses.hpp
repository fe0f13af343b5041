// What an operation of a plan reads and writes when it runs, from the addresses in its call.
//
// Values in memory are their bytes. What exists only while a plan runs (arrays of particles, rooms of
// messages) has addresses that nothing else has, one for each part that operations use on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::tests {

/// Bytes lo .. hi - 1. Operations that join may do so at once (they hold a lock), but not while another one
/// reads or writes.
struct MemoryAccess {
    enum class Kind : std::uint8_t { read, write, join } kind = Kind::read;
    std::uintptr_t lo = 0, hi = 0;
};

/// An operation's moment: the rounds of all scopes as its thread counts them.
struct Moment {
    const graph::Plan* plan = nullptr;
    std::span<const graph::Epoch> counts;  // [scope of the program]
};

/// Operations are to be asked for in an order in which they may run.
class PlanAccesses {
  public:
    explicit PlanAccesses(std::span<graph::Plan* const> plans);

    /// Throws std::logic_error where the kind of the operation is not known here.
    [[nodiscard]] std::vector<MemoryAccess> of(const graph::Op& op, const Moment& when);
    /// Of the question whether a scope has a round.
    [[nodiscard]] std::vector<MemoryAccess> of(const graph::DecideCall& call, const Moment& when);

  private:
    using Kind = MemoryAccess::Kind;
    enum class Part : std::uint8_t { column, room, answers, asked, delivered };
    using Address = std::uintptr_t;

    /// An address that nothing has, for what is meant by these four.
    [[nodiscard]] Address made_up(Part part, const void* of, std::int64_t a, std::int64_t b);
    void add(Kind kind, const void* at, std::int64_t bytes);
    void add_made_up(Kind kind, Part part, const void* of, std::int64_t a = 0, std::int64_t b = 0);
    template <class T>
    void add_object(Kind kind, const T* object, std::size_t count = 1) {
        add(kind, object, static_cast<std::int64_t>(count * sizeof(T)));
    }
    void add_box(Kind kind, const std::byte* first, const graph::Strides& by, const graph::Int3& extent,
                 int components, std::int64_t bytes, std::int64_t step = 0);
    [[nodiscard]] std::byte* at(const graph::RoundAddress& address) const;

    // plan_accesses.cpp
    void task(const graph::TaskCall& call);
    void use(const graph::TaskCall& call, std::size_t number, const graph::UseData& data);
    void field(const graph::UseData& data, const std::byte* origin, const graph::Use& use,
               const graph::LabelInfo& of, int patch);
    void gate(const graph::RequestRole& role, const graph::Use& use, const std::byte* origin, int patch);
    void copy(const graph::ValueCopy& kept);
    void combine(const graph::CombineCall& call);
    void reduce(const graph::ReduceCall& call);

    // plan_accesses_moving.cpp: particles, messages, requests
    [[nodiscard]] bool moving(const graph::Op& op);
    void column(Kind kind, const graph::ParticleColumn& of, const graph::ParticlePatch* patch);
    void columns(Kind kind, const graph::SetRelocation& of, const graph::ParticlePatch* patch);
    void seen_with_halo(const graph::CallExtras& call);
    void renew(const graph::HaloRenewal& call);
    void combine(const graph::HaloCombineCall& call);
    void leave(const graph::LeaveCall& call);
    void arrive(const graph::ArriveCall& call);
    void shown(const graph::PatchLeavers* leavers);
    void room(Kind kind, const graph::Channel* channel, graph::Epoch round);
    void sent(const graph::Channel* channel);
    void received(const graph::Channel* channel, std::uint16_t scope);
    void parcels(std::span<const graph::Parcel> values, std::span<const graph::ParticleParcel> particles,
                 Kind kind);
    [[nodiscard]] bool requests(const graph::Op& op);
    /// Of the answers that a process keeps (its patches' own, or those to other nodes) all that are known.
    enum class Answers : std::uint8_t { own, elsewhere };
    void answers(Kind kind, const graph::SharedAnswers* of, Answers which);
    void answers_of(const graph::AnswersOnTheWay& of, int patch);

    [[nodiscard]] graph::Epoch round(std::uint16_t scope) const { return when_.counts[scope]; }

    Moment when_;
    std::vector<MemoryAccess> found_;
    std::map<std::tuple<Part, const void*, std::int64_t, std::int64_t>, Address> made_up_;
    struct From {
        const graph::Channel* channel;
        graph::Epoch round;
    };
    std::map<const graph::PatchLeavers*, From> from_;  // those of other nodes, in messages
    std::map<const graph::ProcessLeavers*, std::vector<const graph::PatchLeavers*>> gathered_;
    std::map<const void*, const graph::AnswersOnTheWay*> answers_shown_;  // by what tasks see of them
};

}  // namespace strata::tests
