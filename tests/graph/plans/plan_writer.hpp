// Writes one process's plan (plan_text.hpp): memory, order and waits here, what operations do in
// plan_calls.cpp.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::tests {

[[nodiscard]] inline std::string text_of(const graph::Int3& at) {
    return fmt::format("{},{},{}", at[0], at[1], at[2]);
}
[[nodiscard]] inline std::string text_of(const graph::Box& box) {
    return text_of(box.lo) + ".." + text_of(box.hi);
}

class PlanWriter {
  public:
    explicit PlanWriter(const graph::Plan& plan) : plan_(plan) {}
    [[nodiscard]] std::string text() &&;

  private:
    /// An operation where its program has it.
    struct Placed {
        std::uint32_t op = 0;
        int thread = -1, block = -1, place = -1;  // -1: no block's order has it
        std::int64_t previous = -1;               // the operation before it in that order
    };
    struct BlockAt {
        const graph::Block* block;
        std::string path;
    };
    struct Ordered {
        const graph::Program* program = nullptr;
        std::vector<BlockAt> blocks;
        std::vector<Placed> ops;         // sorted: as they are written
        std::vector<std::string> names;  // [operation]: one that no other one has
        std::set<const graph::Flag*> flags;
    };

    template <class... Arguments>
    void add(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Arguments>(arguments)...);
    }
    /// "@" and digits, or "null".
    void add_address(const void* address);
    void add_round_address(const graph::RoundAddress& turn, std::int64_t shift = 0);
    template <class T>
    void add_list(std::span<const T> numbers);
    /// Says what lies in some bytes, which only this process may name or all of its node.
    enum class Whose : std::uint8_t { own, node };
    void add_region(const void* base, std::size_t bytes, Whose whose, std::string_view meaning) {
        add_bytes("region", base, bytes, whose, meaning);
    }
    /// The same of an object of a class: how long it is, is no affair of the plan's.
    template <class T>
    void add_object(const T* object, std::size_t count, Whose whose, std::string_view meaning) {
        add_bytes("object", object, count * sizeof(T), whose, meaning);
    }
    void add_bytes(const char* what, const void* base, std::size_t bytes, Whose whose,
                   std::string_view meaning);

    // plan_text.cpp
    void order(int phase);
    void walk(const graph::Block& block, const std::string& path, Ordered& all, std::vector<Placed>& placed);
    void add_memory();
    void add_storage(graph::StorageId id);
    void add_block(const BlockAt& at);
    void add_program(int phase);
    void add_op(int phase, const Placed& placed);
    void add_wait(const Ordered& all, const graph::Wait& wait);
    void add_kept();
    [[nodiscard]] const std::string& name_of(const void* call) const;

    // plan_calls.cpp
    void add_call(const graph::Op& op, const std::string& name);
    void add_task(const graph::TaskCall& call, const std::string& name);
    void add_place(const graph::TaskCall& call, std::size_t number, const graph::UseData& place,
                   const std::string& name);
    void add_move(const graph::ValueCopy& copy);
    void add_combine(const graph::CombineCall& call);
    void add_rows(const graph::CombineCall& call);
    void add_reduce(const graph::ReduceCall& call);
    void add_channel(const graph::Channel* channel);
    void add_parcels(std::span<const graph::Parcel> parcels);
    void add_leave(const graph::LeaveCall& call, const std::string& name);
    void add_arrive(const graph::ArriveCall& call);
    void add_gather(const graph::GatherCall& call, const std::string& name);
    void add_pack_leavers(const graph::PackLeaversCall& call);
    void add_receive_leavers(const graph::ReceiveLeaversCall& call, const std::string& name);
    void add_relocation(const graph::SetRelocation* of);
    void add_column(const graph::ParticleColumn& column);
    void add_decision(const graph::Decision& decision);

    // plan_calls_moving.cpp
    [[nodiscard]] bool add_moving(const graph::Op& op, const std::string& name);
    void add_addresses(std::string_view what, std::span<const void* const> all);
    void add_renewal(const graph::HaloRenewal& call);
    void add_halo_combine(const graph::HaloCombineCall& call);
    void add_requests(const graph::RequestsOnTheWay& of, const std::string& name);
    void add_answers(const graph::AnswersOnTheWay& of);

    [[nodiscard]] const graph::LabelInfo& label(graph::LabelId id) const {
        return plan_.graph().labels()[id];
    }

    const graph::Plan& plan_;
    std::string text_;
    Ordered phase_of_[2];
    std::set<const graph::SetRelocation*> described_;
};

template <class T>
void PlanWriter::add_list(std::span<const T> numbers) {
    text_ += " [";
    for (const T number : numbers) add("{} ", number);
    text_ += ']';
}

}  // namespace strata::tests
