// Tables of the embedded-atom method in the form setfl, with the elements that they name first.
#include "solvers/md/potentials/eam.hpp"

#include <cmath>
#include <limits>

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        for (const char* element : {"Cu", "Ni"}) {
            const auto eam = strata::md::Eam::read(file.holding(text), {element, element});
            for (const double rho : {0.0, 0.5, 1e3, -1.0, 1e300, std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()})
                (void)eam.embedding(1, rho);
        }
    });
    return 0;
}
