// Runs whose patches move by measured costs.
#pragma once

namespace strata::graph::testing {

/// What run() gives, of the first of up to five runs of which good() says yes, or of the last. Other work on
/// the machine changes measured costs, and with them where patches go.
template <class Run, class Good>
auto first_good_of_five(Run run, Good good) {
    for (int tried = 1;; ++tried) {
        auto found = run();
        if (tried == 5 || good(found)) return found;
    }
}

}  // namespace strata::graph::testing
