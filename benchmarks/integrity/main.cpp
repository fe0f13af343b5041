// strata-integrity: tests processors that nobody uses. `strata centre integrity` starts it and reads its
// lines.
#include <fmt/format.h>

#include <cstdio>

#include "benchmarks/integrity/settings.hpp"
#include "benchmarks/integrity/supervisor.hpp"
#include "core/base/error.hpp"

int main(int argc, char** argv) {
    try {
        strata::integrity::Settings settings;
        if (!strata::integrity::read_settings(argc, argv, settings)) return strata::kSuccess;
        return settings.plain ? strata::integrity::run_plainly(settings)
                              : strata::integrity::supervise(settings);
    } catch (const strata::Error& error) {
        fmt::print(stderr, "{}", error.text());
        return strata::kBadInput;
    }
}
