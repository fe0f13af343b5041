// The same in a build without liblzma.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "methods/curvilinear/unpack.hpp"

namespace strata::flow {

bool can_unpack() { return false; }

std::string unpacked(const Bytes&, const std::string& name) {
    throw Error("the file cannot be unpacked")
        .at(name)
        .given("this Strata was made without liblzma")
        .remedy(
            fmt::format("xz -dk {}, and name the file without .xz (strata doctor: where liblzma is)", name));
}

}  // namespace strata::flow
