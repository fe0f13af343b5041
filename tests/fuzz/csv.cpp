// Tables of users, comma-separated: every field is asked for as text and as a number.
#include "core/balance/csv.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        strata::balance::Csv table(file.holding(text).string(), {"zone", "cells", "name"});
        table.require("zone");
        while (table.next()) {
            (void)table.text("zone");
            (void)table.number("zone", -1e6, 1e6);
        }
    });
    return 0;
}
