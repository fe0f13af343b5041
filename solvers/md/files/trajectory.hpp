// Trajectories of a run: all atoms' positions every so many steps, in one file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/driver/driver.hpp"
#include "solvers/md/files/frame_file.hpp"

namespace strata::md {

/// The labels of a set of particles that a trajectory needs.
struct TrajectoryLabels {
    graph::SetId set;
    graph::LabelId id, x;
    graph::LabelId species;  // i32; none: all atoms are of the first kind
};

/// A place for each atom in the order of their numbers. Numbers may have gaps: then each process keeps a bit
/// for each number between the least and the largest, and as much again for counting.
class IdOrder {
  public:
    /// Collective. The numbers of this process's atoms.
    IdOrder(const std::vector<std::int64_t>& mine, team::Team& team);
    [[nodiscard]] std::int64_t atoms() const { return atoms_; }
    /// Throws Error where the atom was not there at first.
    [[nodiscard]] std::int64_t place(std::int64_t id) const;

  private:
    std::int64_t atoms_ = 0, least_ = 0, largest_ = -1;
    std::vector<std::int64_t> bits_, before_;  // of 64 numbers each; empty: no gaps
};

/// FOLDER/trajectory.FORM. `frame`: the box, and what else a frame has but step and time.
class TrajectoryFile : public graph::Frames {
  public:
    TrajectoryFile(const TrajectoryForm& form, Trajectory about, TrajectoryLabels labels,
                   std::function<Frame(const graph::Simulation&)> frame);

    [[nodiscard]] std::int64_t every() const override { return about_.every; }
    void begin(const graph::Simulation& run, team::Team& team, const std::filesystem::path& folder,
               std::int64_t every, bool restarted) override;
    void write(const graph::Simulation& run, team::Team& team, double time) override;

  private:
    /// Returns how many atoms this process has.
    [[nodiscard]] std::int64_t put_atoms(const graph::Simulation& run) const;

    TrajectoryForm form_;
    Trajectory about_;
    TrajectoryLabels labels_;
    std::function<Frame(const graph::Simulation&)> frame_;
    std::filesystem::path path_;
    std::unique_ptr<IdOrder> order_;
    std::unique_ptr<FrameFormat> format_;
    std::unique_ptr<FrameFile> file_;
    std::int64_t first_ = -1;  // step of the first frame
};

}  // namespace strata::md
