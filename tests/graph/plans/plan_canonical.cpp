// Texts without addresses.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/base/text.hpp"
#include "tests/graph/plans/plan_text.hpp"

namespace strata::tests {

namespace {

using Address = std::uint64_t;

template <class T>
T number(std::string_view& text, int base = 10) {
    if (const auto found = take_number<T>(text, {.base = base})) return *found;
    throw std::runtime_error(fmt::format("no number in a plan's text: {}", text.substr(0, 60)));
}

/// What lies in some bytes.
struct Region {
    std::uint64_t bytes = 0;
    int process = -1;
    std::string meaning;
};
using Regions = std::map<Address, Region>;

struct Written {
    int process = -1, node = -1;
    Regions own, shared;
};

void put(Regions& regions, Address at, Region region) {
    const auto [found, is_new] = regions.try_emplace(at, region);
    if (!is_new) found->second.meaning += " and also " + region.meaning;
}

/// "region @ADDRESS BYTES own|node MEANING", "object @..." likewise, and "flag @ADDRESS OPERATION".
Written read(const std::string& raw) {
    Written written;
    for (std::string_view rest = raw; !rest.empty();) {
        std::string_view line = take_line(rest);
        if (take(line, "process ")) {
            written.process = number<int>(line);
        } else if (take(line, "node ")) {
            written.node = number<int>(line);
        } else if (take(line, "flag @")) {
            const auto at = number<Address>(line, 16);
            put(written.shared, at, {4, written.process, "flag of" + std::string(line)});
        } else if (take(line, "region @") || take(line, "object @")) {
            const auto at = number<Address>(line, 16);
            line.remove_prefix(1);
            const auto bytes = number<std::uint64_t>(line);
            const bool own = take(line, " own ");
            if (!own) take(line, " node ");
            if (bytes > 0)
                put(own ? written.own : written.shared, at, {bytes, written.process, std::string(line)});
        }
    }
    return written;
}

const Regions::value_type* find(const Regions& regions, Address at) {
    auto after = regions.upper_bound(at);
    if (after == regions.begin()) return nullptr;
    --after;
    return at - after->first < after->second.bytes ? &*after : nullptr;
}

/// Replaces the addresses of one process's text.
class Canonical {
  public:
    Canonical(const Written& of, const Regions& node) : of_(of), node_(node) {}

    std::string text(const std::string& raw) {
        for (std::string_view rest = raw; !rest.empty();) {
            std::string_view line = take_line(rest);
            if (line.starts_with("flag @") || line.starts_with("object @")) continue;
            if (line.starts_with("  wait ")) {
                waits_.push_back(without_addresses(line));
                continue;
            }
            put_waits();
            if (take(line, "region @")) {  // how long it is
                number<Address>(line, 16);
                out_.append("region").append(line) += '\n';
            } else
                out_ += without_addresses(line);
        }
        put_waits();
        return std::move(out_);
    }

  private:
    /// In an order that does not follow from where flags lie.
    void put_waits() {
        std::sort(waits_.begin(), waits_.end());
        for (const std::string& wait : waits_) out_ += wait;
        waits_.clear();
    }

    std::string without_addresses(std::string_view line) {
        std::string out;
        for (std::size_t at = 0; (at = line.find('@')) != std::string_view::npos;) {
            out.append(line.substr(0, at));
            line.remove_prefix(at + 1);
            put_place(number<Address>(line, 16), out);
        }
        out.append(line) += '\n';
        return out;
    }

    void put_place(Address address, std::string& out) {
        const Regions::value_type* region = find(of_.own, address);
        if (region == nullptr) region = find(node_, address);
        if (region == nullptr) {
            out += fmt::format("unnamed {}", unnamed_.try_emplace(address, unnamed_.size()).first->second);
            return;
        }
        if (region->second.process != of_.process) out += fmt::format("p{}:", region->second.process);
        out += region->second.meaning;
        if (address != region->first) out += fmt::format("+{}", address - region->first);
    }

    const Written& of_;
    const Regions& node_;
    std::string out_;
    std::vector<std::string> waits_;
    std::map<Address, std::size_t> unnamed_;
};

}  // namespace

std::vector<std::string> canonical_texts(const std::vector<std::string>& raw) {
    std::vector<Written> all;
    std::map<int, Regions> nodes;
    for (const std::string& each : raw) {
        all.push_back(read(each));
        for (const auto& [at, region] : all.back().shared) put(nodes[all.back().node], at, region);
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < raw.size(); ++i)
        texts.push_back(Canonical(all[i], nodes[all[i].node]).text(raw[i]));
    return texts;
}

std::uint64_t digest(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

}  // namespace strata::tests
