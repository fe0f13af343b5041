// Vectors of each patch that are made anew again and again.
#pragma once

#include <cstddef>
#include <vector>

namespace strata::md {

/// Makes it so long; its values are not determined. In memory of little more than that: it gets a
/// thirty-second more where it grows, so that the next time, when it is hardly longer, nothing is allocated.
/// What it had is freed first, and leaves no hole among what other patches have.
template <class T>
void refit(std::vector<T>& values, std::size_t count) {
    if (count > values.capacity()) {
        values = {};
        values.reserve(count + count / 32);
    }
    values.resize(count);
}

}  // namespace strata::md
