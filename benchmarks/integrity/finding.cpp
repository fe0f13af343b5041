#include "benchmarks/integrity/finding.hpp"

#include <fmt/format.h>

#include "benchmarks/integrity/events.hpp"
#include "benchmarks/integrity/settings.hpp"

namespace strata::integrity {

Judged judge(const Suspect& suspect, Use use) {
    int here_wrong = 0, there_wrong = 0, there = 0;
    bool reference_wrong = !suspect.retries.empty();
    for (const Retry& retry : suspect.retries) {
        const bool same = retry.worker == suspect.worker;
        here_wrong += same && !retry.agrees ? 1 : 0;
        there_wrong += !same && !retry.agrees ? 1 : 0;
        there += same ? 0 : 1;
        // All now find what was obtained, so what was expected is wrong.
        reference_wrong = reference_wrong && retry.agrees && retry.hash == suspect.report.hash;
    }
    if (reference_wrong && suspect.report.maker >= 0 && suspect.report.hash != suspect.report.answer_hash)
        return {Verdict::not_repeated, suspect.report.maker};
    if (there_wrong > 0 && here_wrong > 0)
        return {use == Use::memory ? Verdict::memory : Verdict::program, suspect.worker};
    if (here_wrong > 0) return {there > 0 ? Verdict::core : Verdict::repeated, suspect.worker};
    return {Verdict::not_repeated, suspect.worker};
}

const char* word(Verdict verdict) {
    switch (verdict) {
        case Verdict::core:
            return "core";
        case Verdict::memory:
            return "memory";
        case Verdict::repeated:
            return "repeated";
        case Verdict::program:
            return "program";
        case Verdict::not_repeated:
            break;
    }
    return "not repeated";
}

void say_finding(const Suspect& suspect, const std::vector<Place>& places, const Judged* judged) {
    const Report& report = suspect.report;
    const Kernel& kernel = kernels()[report.kernel];
    const Place& place =
        places[static_cast<std::size_t>(judged != nullptr ? judged->worker : suspect.worker)];
    say(judged != nullptr ? "finding" : "suspect", [&](Json& json) {
        json.member("id", suspect.id);
        json.member("core", place.pu).member("package", place.package).member("domain", place.domain);
        json.key("microcode");
        place.microcode.empty() ? json.null() : json.value(place.microcode);
        json.member("temperature", temperature(place.package));
        json.member("kernel", kernel.name).member("what", suspect.what);
        if (report.partner >= 0) json.member("partner", places[static_cast<std::size_t>(report.partner)].pu);
        json.member("seed", hex(report.seed)).member("round", report.round);
        json.member("step", report.mismatch.step);
        json.member("place",
                    report.mismatch.step >= 0 ? kernel.step(report.mismatch.step) : "the whole round");
        json.member("expected", hex(report.mismatch.expected))
            .member("obtained", hex(report.mismatch.obtained));
        if (report.mismatch.offset >= 0) {
            json.member("bits", hex(report.mismatch.expected ^ report.mismatch.obtained));
            json.member("offset", report.mismatch.offset);
            if (report.physical != 0) json.member("physical", hex(report.physical));
        }
        json.member("replay", replay_text(report.kernel, report.seed, place.pu));
        if (judged == nullptr) return;
        json.key("retries").array();
        for (const Retry& retry : suspect.retries) {
            json.object().member("core", places[static_cast<std::size_t>(retry.worker)].pu);
            json.member("agrees", retry.agrees).end();
        }
        json.end();
        json.member("verdict", word(judged->verdict));
    });
}

}  // namespace strata::integrity
