// What a frame of a trajectory looks like in a file. All frames of a file have one size, and each atom its
// place in them, in the order of the atoms' numbers: so every process can write its own atoms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata::md {

/// What all frames of a file have in common.
struct Trajectory {
    std::int64_t atoms = 0;
    std::int64_t first_step = 0, every = 1;
    double time_step = 0;            // of a step, in the case's unit
    double femtoseconds = 0;         // of that unit; 0: none
    std::vector<std::string> kinds;  // their names
    std::array<bool, 3> periodic{true, true, true};
    int digits = 9;  // of positions in texts
};

struct Frame {
    std::int64_t step = 0;
    double time = 0;
    std::array<double, 3> low{}, length{};  // of the box
    double scale = 1;                       // of positions, from what the run keeps
};

class FrameFormat {
  public:
    explicit FrameFormat(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}
    virtual ~FrameFormat() = default;
    FrameFormat(const FrameFormat&) = delete;
    FrameFormat& operator=(const FrameFormat&) = delete;

    using Put = std::function<void(std::int64_t at, std::string_view bytes)>;

    /// What stands before the first frame, when the file has so many frames.
    [[nodiscard]] virtual std::string head(std::int64_t frames) const = 0;
    /// Bytes of a frame.
    [[nodiscard]] virtual std::int64_t frame_bytes() const = 0;
    /// Calls put for all of a frame but the atoms.
    virtual void frame(const Frame& frame, const Put& put) const = 0;
    /// Writes an atom's values to their places in a frame; row: its place in the order of numbers.
    virtual void atom(char* frame, std::int64_t row, std::int64_t id, std::int32_t kind,
                      const std::array<double, 3>& x) const = 0;
    /// Whether a file that begins with these bytes (head and the first frame) is one of this run: then the
    /// step of its first frame; else -1.
    [[nodiscard]] virtual std::int64_t first_step(std::string_view bytes) const = 0;

    [[nodiscard]] const Trajectory& trajectory() const { return trajectory_; }

  protected:
    Trajectory trajectory_;
};

/// Extended XYZ (https://github.com/libAtoms/extxyz): columns species, pos, id; the comment has step and
/// time.
[[nodiscard]] std::unique_ptr<FrameFormat> extended_xyz_format(const Trajectory& trajectory);

/// DCD as CHARMM and NAMD have it, with a unit cell in each frame, in the machine's byte order: positions as
/// floats, the step of frame k is first + k every. Times in AKMA units (48.88821 fs) where the case has
/// seconds, else as they are.
[[nodiscard]] std::unique_ptr<FrameFormat> dcd_format(const Trajectory& trajectory);

/// A form that cases may ask for.
struct TrajectoryForm {
    std::string_view name;   // in `trajectory.forms`, and the ending of the file
    std::string_view about;  // for the help; "": its name says all
    std::unique_ptr<FrameFormat> (*format)(const Trajectory& trajectory);
    std::int64_t most_atoms = std::numeric_limits<std::int64_t>::max();
    std::string_view why_no_more = {};
};

/// All of them: keys, their help and files follow from this table. (python/strata/md/frames.py reads them.)
inline constexpr std::array kTrajectoryForms{
    TrajectoryForm{"xyz", "extended XYZ", extended_xyz_format},
    TrajectoryForm{"dcd", "", dcd_format, std::numeric_limits<std::int32_t>::max() / 4,
                   "a DCD file counts the bytes of its records with 32 bits"}};

}  // namespace strata::md
