// LAMMPS's data files, read in one piece and in three, and explained.
#include "solvers/md/files/lammps_data.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        const strata::md::LammpsData found(file.holding(text));
        std::size_t rows = 0;
        for (std::int64_t part = 0; part < 3; ++part) rows += found.piece(part, 3).size();
        if (rows != found.piece(0, 1).size()) std::abort();
        found.explain();
    });
    return 0;
}
