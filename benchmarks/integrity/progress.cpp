#include "benchmarks/integrity/progress.hpp"

#include "benchmarks/common/clock.hpp"
#include "benchmarks/integrity/events.hpp"
#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

using bench::now;

Progress::Progress(const Settings& settings, const Crew& crew, std::string mode)
    : settings_(settings),
      crew_(crew),
      mode_(std::move(mode)),
      began_s_(now()),
      sums_(static_cast<std::size_t>(crew.size()), std::vector<Sums>(kernels().size())) {}

void Progress::start() {
    heard_ = say("start", [&](Json& json) {
        json.member("version", STRATA_VERSION).member("mode", mode_).member("seed", hex(settings_.seed));
        json.member("memory", settings_.memory_bytes);
        json.key("cores").array();
        for (const Place& place : crew_.places()) {
            json.object()
                .member("core", place.pu)
                .member("package", place.package)
                .member("domain", place.domain);
            json.key("microcode");
            place.microcode.empty() ? json.null() : json.value(place.microcode);
            json.end();
        }
        json.end();
        json.key("kernels").array();
        for (const std::uint32_t kernel : settings_.kernels)
            if (crew_.can_run(kernels()[kernel])) json.value(kernels()[kernel].name);
        json.end();
        json.key("left_out").array();
        for (const Kernel& kernel : kernels()) {
            std::string why = kernel.missing();
            if (!crew_.can_run(kernel)) why = "only one core is under test";
            if (!why.empty()) json.object().member("kernel", kernel.name).member("why", why).end();
        }
        json.end();
    });
}

void Progress::add(int worker, const Report& report) {
    Sums& sums = sums_[static_cast<std::size_t>(worker)][report.kernel];
    ++sums.rounds;
    sums.work += report.work;
    sums.cpu_s += report.cpu_s;
    if (!settings_.verbose && settings_.replays.empty()) return;
    const Kernel& kernel = kernels()[report.kernel];
    heard_ = say("round",
                 [&](Json& json) {
                     json.member("core", crew_.member(worker).place.pu).member("kernel", kernel.name);
                     json.member("seed", hex(report.seed))
                         .member("seconds", report.cpu_s)
                         .member("work", report.work);
                     json.member("unit", kernel.unit)
                         .member("digest", hex(report.hash))
                         .member("agrees", !report.wrong);
                 }) &&
             heard_;
}

void Progress::yielded(int worker, double seconds) {
    heard_ = say("yielded",
                 [&](Json& json) {
                     json.member("core", crew_.member(worker).place.pu).member("seconds", seconds);
                 }) &&
             heard_;
}

void Progress::of_core(const char* event, int worker) {
    heard_ = say(event, [&](Json& json) { json.member("core", crew_.member(worker).place.pu); }) && heard_;
}

void Progress::sums(const char* event, std::uint64_t findings) {
    std::uint64_t rounds = 0;
    for (const auto& of_worker : sums_)
        for (const Sums& sums : of_worker) rounds += sums.rounds;
    heard_ = say(event,
                 [&](Json& json) {
                     json.member("seconds", now() - began_s_)
                         .member("rounds", rounds)
                         .member("findings", findings);
                     json.key("sums").array();
                     for (int worker = 0; worker < crew_.size(); ++worker)
                         for (std::size_t kernel = 0; kernel < kernels().size(); ++kernel) {
                             const Sums& sums = sums_[static_cast<std::size_t>(worker)][kernel];
                             if (sums.rounds == 0) continue;
                             json.object()
                                 .member("core", crew_.member(worker).place.pu)
                                 .member("kernel", kernels()[kernel].name);
                             json.member("rounds", sums.rounds)
                                 .member("seconds", sums.cpu_s)
                                 .member("work", sums.work);
                             json.member("unit", kernels()[kernel].unit).end();
                         }
                     json.end();
                     json.key("yielded").array();
                     for (int worker = 0; worker < crew_.size(); ++worker) {
                         const Member& member = crew_.member(worker);
                         const double since = member.stopped ? now() - member.stopped_since_s : 0;
                         json.object().member("core", member.place.pu).member("times", member.stops);
                         json.member("seconds", member.stopped_s + since).end();
                     }
                     json.end();
                 }) &&
             heard_;
}

}  // namespace strata::integrity
