// What a task sees on one patch: its uses, one after the other, for the call in the making.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/expand/calls/copy_shapes.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

class TaskViews {
  public:
    TaskViews(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, ProgramData& all, TaskId task,
              ContributionSlots& slots);

    /// Forgets the last call. The next one is of operation `op`.
    void begin(std::uint32_t op);
    /// From now on of this patch. `boxes_apart`: boxes are told by their distances from its cells.
    void look_from(int local, int patch, bool boxes_apart);
    void show(std::size_t use);
    /// A use that shows nothing there.
    void skip() { uses.emplace_back(); }
    [[nodiscard]] HaloCalls halo(const ParticleHalo& of) const { return {in_, of, patch_}; }

    // What was found. A use is known by its number in `uses`.
    std::vector<UseData> uses;
    std::vector<CallShape::UseInBlock> in_block;
    std::vector<CallShape::UseAddress> addresses;
    std::vector<CallShape::ScalarContribution> scalars;
    std::vector<std::uint32_t> boxed;
    std::vector<std::byte*> own;
    std::vector<BoxAround> boxes;
    std::vector<ValueCopy> collects;
    std::vector<Clear> clears;
    std::vector<CallExtras::ParticleView> particle_views;
    std::vector<HaloRead> halo_reads;
    std::vector<HaloSum> halo_sums;

  private:
    /// `mine`: it lies at an address that no other patch has.
    enum Whose : bool { shared, mine };
    void add(const UseData& data, RoundAddress at, Whose whose = shared);
    void add_at(const UseData& data, const RoundAddress& at, std::uint32_t own_number);
    [[nodiscard]] UseData with_box(UseData data, const Box& box);
    [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(uses.size()); }
    [[nodiscard]] RoundAddress address(const ResolvedUse& use, const PatchArray& array,
                                       std::int64_t bytes = 0) const;
    void show_field(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_related(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_window(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_part(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_list(const Use& use, const ResolvedUse& resolved);
    void show_particles(const ResolvedUse& resolved);
    void show_with_halo(const Use& use, const ResolvedUse& resolved);
    void show_members(HaloId of);
    void show_gathered(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_collected(const Use& use, const LabelInfo& of, const ResolvedUse& resolved);
    void show_scalar(const ResolvedUse& resolved);
    void show_gate(const Use& use, const RequestRole& role);
    void show_contribution(int use, const LabelInfo& of);
    [[nodiscard]] std::size_t stride() const;
    [[nodiscard]] std::size_t home(int local) const;
    void make_room_for_contributions();

    const PlanInputs& in_;
    const Numbered& numbered_;
    Arrays& arrays_;
    ProgramData& all_;
    const TaskId task_;
    ContributionSlots& slots_;
    const TaskInfo& declared_ = in_.info(task_);
    const std::vector<ResolvedUse>& resolved_ = in_.task(task_).uses;
    CopyShapes copies_{all_.store};
    std::size_t contributed_ = 0;        // bytes of a call's contributions to scalars
    std::size_t unit_ = sizeof(double);  // they begin at multiples of it
    std::vector<std::byte*> next_call_;  // [thread] where those of its next call lie

    int local_ = 0, patch_ = -1;
    bool boxes_apart_ = false;
    Reader reader_{numbered_.tasks[task_].phase, kNone, position_of(in_, task_, Position::own)};
    std::uint32_t contributions_ = CallShape::kAbsolute;  // the call's own address of them
    std::size_t next_ = 0;                                // bytes of them so far
};

}  // namespace strata::graph::detail
