// The beginning of a PLOT3D file: the forms that a file may have, and what its sizes say in one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "methods/curvilinear/bytes.hpp"
#include "methods/curvilinear/plot3d.hpp"
#include "methods/curvilinear/plot3d_layout.hpp"
#include "methods/curvilinear/text_numbers.hpp"

namespace strata::flow {

/// A value with its bytes in the other order where `swap` says so.
template <class T>
[[nodiscard]] T byte_swapped(T value, bool swap) {
    if (!swap) return value;
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    std::reverse(bytes, bytes + sizeof(T));
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

/// All forms that what is known allows.
[[nodiscard]] std::vector<Plot3dForm> plot3d_forms(const Plot3dKnown& known, Plot3dContent content,
                                                   bool text);

/// Whole numbers at the beginning of a file, in a form.
class Plot3dHead {
  public:
    static constexpr std::int64_t kMostZones = 100'000;

    /// `text`: the same file as numbers of a text; null: it is binary.
    Plot3dHead(const Bytes& bytes, const TextNumbers* text) : bytes_(bytes), text_(text) {}

    /// The layout that the head says in this form; none: it is none of this form.
    [[nodiscard]] std::optional<Plot3dLayout> layout(Plot3dContent content, Plot3dForm form) const;
    /// The length of a record, or of a part of one, that stands at a byte; none: the file ends before.
    [[nodiscard]] std::optional<std::int64_t> marker(const Plot3dForm& form, std::int64_t at) const;

  private:
    [[nodiscard]] bool record(const Plot3dForm& form, std::int64_t at, std::int64_t length) const;
    [[nodiscard]] bool read(const Plot3dForm& form, std::int64_t at, std::int64_t count,
                            std::int64_t* to) const;

    const Bytes& bytes_;
    const TextNumbers* text_;
};

}  // namespace strata::flow
