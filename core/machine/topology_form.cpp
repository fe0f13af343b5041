#include "core/machine/topology_form.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace strata::machine {
namespace {

/// No node has a tenth of it; damaged counts must not ask for all memory.
constexpr std::uint64_t kMostNumbers = 1 << 20;
constexpr size_t kCodes = 256;  // distinct distances that one byte can stand for

/// What the two sides have in common is said once: `fields` names each member in order, and the side that is
/// given writes or reads it.
class Writer {
  public:
    explicit Writer(std::string& out) : out_(out) {}

    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
        out_ += static_cast<char>(value);
    }
    /// Small numbers of either sign are short.
    void operator()(int value) { number(zigzag(value)); }
    void operator()(std::uint64_t value) { number(value); }
    void operator()(const std::string& text) {
        number(text.size());
        out_ += text;
    }
    void operator()(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (int byte = 0; byte < 8; ++byte) out_ += static_cast<char>(bits >> (8 * byte));
    }
    void operator()(const std::optional<int>& value) {
        number(value ? 1 : 0);
        if (value) (*this)(*value);
    }
    /// As runs of neighbours, in whatever order the numbers come: first, how many.
    void operator()(const std::vector<int>& numbers) {
        number(numbers.size());
        int last = 0;
        for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
            for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
            (*this)(numbers[begin] - last);
            number(end - begin);
            last = numbers[end - 1];
        }
    }
    template <class T, class F>
    void each(const std::vector<T>& items, F&& visit) {
        number(items.size());
        for (const T& item : items) visit(*this, item);
    }
    void matrix(const std::vector<std::vector<double>>& rows) {
        std::vector<double> distinct;
        for (const auto& row : rows) distinct.insert(distinct.end(), row.begin(), row.end());
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        const bool coded = distinct.size() <= kCodes;
        number(rows.size());
        number(coded ? distinct.size() : 0);
        if (coded)
            for (const double value : distinct) (*this)(value);
        for (const auto& row : rows) {
            for (const double value : row) {
                if (coded) {
                    const auto at = std::lower_bound(distinct.begin(), distinct.end(), value);
                    out_ += static_cast<char>(at - distinct.begin());
                } else {
                    (*this)(value);
                }
            }
        }
    }

  private:
    static std::uint64_t zigzag(int value) {
        const auto wide = static_cast<std::int64_t>(value);
        return (static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63);
    }
    std::string& out_;
};

/// Reads what Writer wrote. After the first fault nothing more is read and good() is false.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    /// Whether all was as expected, and all was read.
    [[nodiscard]] bool good() const { return good_ && bytes_.empty(); }

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) return fail();
            const auto byte = static_cast<std::uint8_t>(bytes_.front());
            bytes_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        return fail();
    }
    void operator()(int& value) {
        const std::uint64_t coded = number();
        value =
            static_cast<int>(static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1));
    }
    void operator()(std::uint64_t& value) { value = number(); }
    void operator()(std::string& text) { text = take(number()); }
    void operator()(double& value) {
        std::uint64_t bits = 0;
        const std::string_view eight = take(8);
        for (size_t byte = 0; byte < eight.size(); ++byte)
            bits |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(eight[byte])) << (8 * byte);
        value = std::bit_cast<double>(bits);
    }
    void operator()(std::optional<int>& value) {
        value.reset();
        if (number() != 0) (*this)(value.emplace());
    }
    void operator()(std::vector<int>& numbers) {
        const std::uint64_t count = number();
        if (count > kMostNumbers) fail();
        if (!good_) return;
        numbers.reserve(count);
        std::uint32_t last = 0;  // unsigned, so that damaged numbers wrap instead of overflowing
        while (good_ && numbers.size() < count) {
            int step = 0;
            (*this)(step);
            const std::uint64_t run = number();
            if (run == 0 || run > count - numbers.size()) fail();
            last += static_cast<std::uint32_t>(step);
            for (std::uint64_t i = 0; good_ && i < run; ++i)
                numbers.push_back(static_cast<int>(last + static_cast<std::uint32_t>(i)));
            last += static_cast<std::uint32_t>(run - 1);
        }
    }
    template <class T, class F>
    void each(std::vector<T>& items, F&& visit) {
        const std::uint64_t count = number();
        if (count > bytes_.size()) fail();  // every item takes at least a byte
        if (!good_) return;
        items.resize(count);
        for (T& item : items) visit(*this, item);
    }
    void matrix(std::vector<std::vector<double>>& rows) {
        const std::uint64_t size = number(), distinct = number();
        if (size > kMostNumbers || distinct > kCodes) fail();
        std::array<double, kCodes> values{};
        for (std::uint64_t i = 0; good_ && i < distinct; ++i) (*this)(values[i]);
        if (size * size > bytes_.size()) fail();
        if (!good_) return;
        rows.assign(size, std::vector<double>(size));
        for (auto& row : rows) {
            if (distinct == 0) {
                for (double& value : row) (*this)(value);
                continue;
            }
            const std::string_view codes = take(size);
            for (size_t i = 0; i < codes.size(); ++i) row[i] = values[static_cast<std::uint8_t>(codes[i])];
        }
    }

  private:
    std::uint64_t fail() {
        good_ = false;
        bytes_ = {};
        return 0;
    }
    std::string_view take(std::uint64_t count) {
        if (count > bytes_.size()) {
            fail();
            return {};
        }
        const std::string_view taken = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return taken;
    }

    std::string_view bytes_;
    bool good_ = true;
};

/// Every member that hwloc fills, in the order in which it stands in the file. `M` is const for a Writer.
template <class Form, class M>
void fields(Form& form, M& machine) {
    form(machine.cpu_model);
    form.each(machine.packages,
              [](Form& f, auto& package) { f(package.index), f(package.os_index), f(package.pus); });
    form.each(machine.domains, [](Form& f, auto& domain) {
        f(domain.index), f(domain.pus), f(domain.cores), f(domain.memories);
    });
    form.each(machine.memories, [](Form& f, auto& memory) {
        f(memory.index), f(memory.os_index), f(memory.kind), f(memory.total_bytes), f(memory.domain);
        f(memory.nearest_domain);
    });
    form.each(machine.caches, [](Form& f, auto& cache) {
        f(cache.level), f(cache.type), f(cache.size_bytes), f(cache.line_bytes), f(cache.ways);
        f(cache.cores);
    });
    form.each(machine.cores, [](Form& f, auto& core) {
        f(core.index), f(core.os_index), f(core.package), f(core.die), f(core.domain), f(core.kind);
        f(core.pus);
    });
    form.each(machine.core_kinds, [](Form& f, auto& kind) {
        f(kind.index), f(kind.efficiency), f(kind.cores);
        f.each(kind.info, [](Form& g, auto& info) { g(info.first), g(info.second); });
    });
}

template <class Form, class D>
void distance_fields(Form& form, D& distances) {
    form(distances.memories), form(distances.source), form.matrix(distances.matrix);
}

}  // namespace

std::string encode_topology(const Machine& machine) {
    std::string bytes;
    Writer form(bytes);
    fields(form, machine);
    form.number(machine.distances ? 1 : 0);
    if (machine.distances) distance_fields(form, *machine.distances);
    return bytes;
}

bool decode_topology(std::string_view bytes, Machine& machine) {
    Reader form(bytes);
    Machine found;
    fields(form, found);
    if (form.number() != 0) distance_fields(form, found.distances.emplace());
    if (!form.good()) return false;
    machine.cpu_model = std::move(found.cpu_model);
    machine.packages = std::move(found.packages);
    machine.domains = std::move(found.domains);
    machine.memories = std::move(found.memories);
    machine.distances = std::move(found.distances);
    machine.caches = std::move(found.caches);
    machine.cores = std::move(found.cores);
    machine.core_kinds = std::move(found.core_kinds);
    return true;
}

std::uint64_t checksum(std::string_view bytes) {
    // Each step (exclusive or, odd factor, rotation) can be undone, so a changed word always changes the
    // result. The factor is the golden ratio of Knuth's multiplicative hashing (The Art of Computer
    // Programming, vol. 3, 6.4).
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
    std::uint64_t sum = bytes.size() * factor;
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const size_t length = std::min(bytes.size(), sizeof word);
        std::memcpy(&word, bytes.data(), length);
        sum = std::rotl((sum ^ word) * factor, 29);
        bytes.remove_prefix(length);
    }
    return sum;
}

}  // namespace strata::machine
