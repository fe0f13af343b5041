// The data of an operation, by the type that its function says.
#pragma once

namespace strata::tests {

template <class T>
const T& as(const void* what) {
    return *static_cast<const T*>(what);
}

}  // namespace strata::tests
