// Groups: named sets of atoms, made at the start and kept as a bit for each group with every atom. A line of
// a case gives atoms to one:
//
//   NAME: TERM and TERM ...      all that fulfil each term; several lines of a name add up
//   TERM                         [not] one of
//     all                        every atom
//     kind A                     a kind of atoms
//     id 7, id 1 to 100          a number, or both ends of a range of numbers
//     z < 2.0, x > 1.5           where the atom is at the start
//     box X0 X1 Y0 Y1 Z0 Z1
//     sphere X Y Z RADIUS
//     group NAME                 what the lines above gave to it
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::md {

class Groups {
  public:
    static constexpr std::size_t kMost = 31;
    /// What a line may be, for messages.
    static constexpr const char* kForm =
        "NAME: TERM and TERM ..., each [not] all, kind A, id 1 to 9, z < 2, box X0 X1 Y0 Y1 Z0 Z1, sphere X "
        "Y Z R "
        "or group NAME";

    Groups() = default;
    Groups(std::vector<std::string> names, std::vector<std::string> kinds)
        : names_(std::move(names)), kinds_(std::move(kinds)) {}

    /// Adds a line. Returns what is wrong with it; empty: nothing.
    [[nodiscard]] std::string add(std::string_view line);
    /// The first group without a line.
    [[nodiscard]] std::optional<std::string> empty() const;

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// The bit of a group; 0 of "all"; nothing where there is none of this name.
    [[nodiscard]] std::optional<std::int32_t> bit(std::string_view name) const;
    /// How many lines there are.
    [[nodiscard]] std::size_t lines() const { return lines_.size(); }
    /// The bits of an atom. `found`, where it is given: one more for each line that the atom is in.
    [[nodiscard]] std::int32_t of(std::int64_t id, std::int32_t kind, const std::array<double, 3>& x,
                                  std::int64_t* found = nullptr) const;

  private:
    enum class What : std::uint8_t { all, kind, id, below, above, box, sphere, group };
    struct Term {
        What what = What::all;
        bool negated = false;
        std::int64_t from = 0, to = 0;  // of ids; `from`: a kind, an axis, a group's bit
        std::array<double, 6> numbers{};
    };
    struct Line {
        std::int32_t bit;
        std::vector<Term> terms;
    };
    /// Reads a term and takes its words away; nothing where they are none.
    [[nodiscard]] std::optional<Term> term(std::vector<std::string_view>& words) const;
    [[nodiscard]] static bool holds(const Term& term, std::int64_t id, std::int32_t kind,
                                    const std::array<double, 3>& x, std::int32_t bits);

    std::vector<std::string> names_, kinds_;
    std::vector<Line> lines_;
};

/// Whether an atom with these bits is one of a group; group 0: all are.
[[nodiscard]] inline bool in_group(std::int32_t bits, std::int32_t group) {
    return group == 0 || (bits & group) != 0;
}

}  // namespace strata::md
