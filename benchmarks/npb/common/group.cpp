#include "benchmarks/npb/common/group.hpp"

#include <cstring>

namespace strata::npb {

void Group::exchange(std::span<const Shift> shifts) {
    for (const Shift& shift : shifts) std::memcpy(shift.in.data(), shift.out.data(), shift.in.size());
}

void Group::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
    std::memcpy(all.data(), mine.data(), mine.size());
}

double* Group::next_slots() {
    second_ = !second_;
    double*& slots = slots_[second_ ? 1 : 0];
    if (slots == nullptr)
        slots =
            array<double>(second_ ? "sums 1" : "sums 0", static_cast<std::size_t>(workers()) * kSlot).data();
    return slots;
}

}  // namespace strata::npb
