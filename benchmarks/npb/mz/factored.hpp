#pragma once

#include "benchmarks/npb/flow/lines.hpp"
#include "benchmarks/npb/mz/busy.hpp"
#include "benchmarks/npb/mz/mesh.hpp"

namespace strata::npb::mz {

/// An iteration of BT or SP: the zones take their neighbours' values, then each is advanced for itself
/// (NAS-03-010, section 2). A worker that has a zone alone does all of it while it is in a cache.
template <class Scheme>
class Factored {
  public:
    Factored(Mesh& mesh, const Scheme& scheme, double dt, Busy& busy)
        : mesh_(mesh), lines_(mesh, scheme, dt), busy_(busy) {}

    void iterate() {
        mesh_.exchange();
        mesh_.each([&](const flow::Work& work) {
            busy_.count(work.worker, [&] {
                lines_.planes(work);
                if (work.part.whole()) lines_.rows(work);
            });
        });
        if (!mesh_.any_shared()) return;
        mesh_.each([&](const flow::Work& work) {
            if (!work.part.whole()) busy_.count(work.worker, [&] { lines_.rows(work); });
        });
    }

  private:
    Mesh& mesh_;
    flow::Lines<Scheme> lines_;
    Busy& busy_;
};

}  // namespace strata::npb::mz
