// From a wrong answer to a verdict: the same round is done again on the same core and on another one, each
// time against a reference of its own.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/integrity/places.hpp"
#include "benchmarks/integrity/shared.hpp"

namespace strata::integrity {

/// One retry: agrees where the kernel and its reference, both computed anew, have the same answer.
struct Retry {
    int worker = 0;
    bool agrees = false;
    std::uint64_t hash = 0;
};

struct Suspect {
    std::uint64_t id = 0;
    int worker = 0;
    std::string what;  // "wrong answer", "crash: SIGSEGV", ...
    Report report;
    std::vector<Retry> retries;
    double since_s = 0;
};

enum class Verdict {
    core,          // wrong again on this core, right on another
    memory,        // wrong on several cores in the same memory
    not_repeated,  // right when done again
    repeated,      // wrong again, and there was no other core to ask
    program,       // wrong on every core: the kernel or its library, or this whole kind of processor
};

struct Judged {
    Verdict verdict;
    int worker;  // whom it concerns: the one that computed the reference, where that was wrong
};

[[nodiscard]] Judged judge(const Suspect& suspect, Use use);
[[nodiscard]] const char* word(Verdict verdict);

/// Writes the event "suspect" (before the retries) or "finding" (after them).
void say_finding(const Suspect& suspect, const std::vector<Place>& places, const Judged* judged);

}  // namespace strata::integrity
