// What a run notes of itself as it goes on: history.jsonl in its folder, one event a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/run/history/identity.hpp"

namespace strata::graph {

/// A part of a run, from its start or from a restart until it ended.
struct RunLeg {
    std::int64_t step = 0;        // the step after which it began; 0: the start
    std::string checkpoint;       // the path of that state; "" for the start
    std::string solver, program;  // the program's file; of a solver in Python its script
    std::string case_file, case_text, case_hash;
    std::string folder;  // in which it was started: files that a case names are seen from there
    int processes = 1, threads = 1;
    Identity identity;
};

using SteeredValues = std::vector<std::pair<std::string, double>>;

/// Writes the events of a run. Each line is one write, so a killed run leaves whole lines and at most one
/// that is cut off. All throw Error where the file cannot be written.
class History {
  public:
    /// Opens `folder`/history.jsonl, without a last line that was cut off.
    explicit History(const std::filesystem::path& folder);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    void began(const RunLeg& leg);
    /// Parameters that have other values from step `before_step` on.
    void steered(std::int64_t before_step, const SteeredValues& values);
    /// `seconds`: time of the steps that this leg has done.
    void saved(std::int64_t step, double seconds);
    void ended(std::int64_t step, double seconds);

  private:
    void write(std::string line);

    std::filesystem::path path_;
    int file_ = -1;
};

/// A run's history as it counts: a restart undoes what came after its first step.
struct RunRecord {
    struct Steered {
        std::int64_t before_step;
        SteeredValues values;
    };
    std::vector<RunLeg> legs;  // one after the other; each ends where the next one begins
    std::vector<Steered> steered;
    std::vector<std::int64_t> checkpoints;  // steps; written in this folder; many may have been removed since
    std::int64_t ended = -1;      // the last step of a run that ended in order; -1: killed, or going on
    double steps_per_second = 0;  // of the last leg; 0 where it is not known

    /// The leg that computed a step (of step 0: the first one).
    [[nodiscard]] const RunLeg& leg_of(std::int64_t step) const;
};

/// Throws Error where a folder has no history, or it is damaged.
[[nodiscard]] RunRecord read_history(const std::filesystem::path& folder);

}  // namespace strata::graph
