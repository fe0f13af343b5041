#include "benchmarks/npb/is/sorter.hpp"

#include <algorithm>
#include <cstring>

#include "benchmarks/npb/common/random.hpp"

namespace strata::npb::is {
namespace {

/// So many values in a bucket that their counts stay in the first or second cache, but no more buckets than
/// there are lines in it to collect keys in.
int shift_of(const Problem& problem) {
    const int log_buckets = problem.log_values <= 23 ? 8 : 10;
    return std::max(problem.log_values - log_buckets, 0);
}

/// what(key) for each key; keys are asked for ahead, as one core gets more of the memory's bandwidth so.
template <class What>
void each_key(const Sorter::Key* keys, std::int64_t count, What&& what) {
    constexpr std::int64_t kLine = 16, kAhead = 1024;
    std::int64_t i = 0;
    for (; i + kLine <= count; i += kLine) {
        __builtin_prefetch(keys + i + kAhead);
        for (std::int64_t k = 0; k < kLine; ++k) what(keys[i + k]);
    }
    for (; i < count; ++i) what(keys[i]);
}

}  // namespace

Sorter::Sorter(const Problem& problem, Group& group, Break fault)
    : problem_(problem),
      group_(group),
      fault_(fault),
      shift_(shift_of(problem)),
      buckets_(static_cast<std::size_t>(problem.values() >> shift_)),
      mine_(problem.keys(), group.rank(), group.size()) {
    const auto own = static_cast<std::size_t>(mine_.end - mine_.begin);
    keys_ = group.array<Key>("keys", own);
    sorted_ = group.array<Key>("keys by bucket", own);
    // How many a process gets depends on the keys; room that is never touched costs nothing.
    if (group.size() > 1)
        received_ = group.array<Key>("keys received", static_cast<std::size_t>(problem.keys()));
    smaller_ = group.array<std::uint32_t>("smaller keys", static_cast<std::size_t>(problem.values()));
    counts_ = group.array<Counts>("bucket counts", static_cast<std::size_t>(group.workers()));
    before_.resize(buckets_ + 1);
    first_.resize(static_cast<std::size_t>(group.size()) + 1);
    pieces_.resize(static_cast<std::size_t>(group.size()));
}

void Sorter::make_keys() {
    const double quarter = static_cast<double>(problem_.values() / 4);
    group_.each_part(mine_.end - mine_.begin, [&](std::int64_t begin, std::int64_t end) {
        // Each key is the sum of four numbers.
        constexpr std::int64_t kPiece = 1024;
        Random random = Random(kSeed).after(static_cast<std::uint64_t>(4 * (mine_.begin + begin)));
        std::vector<double> numbers(4 * kPiece);
        for (std::int64_t i = begin; i < end; i += kPiece) {
            const std::int64_t count = std::min(kPiece, end - i);
            random.fill(numbers.data(), static_cast<std::size_t>(4 * count));
            for (std::int64_t k = 0; k < count; ++k) {
                const double* four = &numbers[static_cast<std::size_t>(4 * k)];
                keys_[static_cast<std::size_t>(i + k)] =
                    static_cast<Key>(quarter * (four[0] + four[1] + four[2] + four[3]));
            }
        }
    });
}

void Sorter::rank(int i) {
    group_.once([&] {
        const auto set = [&](std::int64_t place, std::int64_t key) {
            if (place >= mine_.begin && place < mine_.end)
                keys_[static_cast<std::size_t>(place - mine_.begin)] = static_cast<Key>(key);
        };
        set(i, i);
        set(i + kIterations, problem_.values() - i);
    });
    count_buckets();
    share_buckets();
    scatter();
    exchange();
    count_values();
}

void Sorter::count_buckets() {
    group_.each([&](int worker, int workers) {
        const Share part(mine_.end - mine_.begin, worker, workers);
        Counts& counts = counts_[static_cast<std::size_t>(worker)];
        std::fill_n(counts.begin(), buckets_, 0);
        each_key(&keys_[static_cast<std::size_t>(part.begin)], part.end - part.begin,
                 [&](Key key) { ++counts[bucket(key)]; });
    });
}

void Sorter::share_buckets() {
    // Each process works out by itself what all have: the counts are few. They are read inside a call for
    // all, and counted anew only after two more of those.
    std::vector<std::int64_t> own(buckets_);
    for (const Counts& counts : counts_)
        for (std::size_t b = 0; b < buckets_; ++b) own[b] += counts[b];
    std::vector<std::int64_t> all(buckets_ * static_cast<std::size_t>(group_.size()));
    group_.gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    std::fill(before_.begin(), before_.end(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) before_[i % buckets_ + 1] += all[i];
    for (std::size_t b = 0; b < buckets_; ++b) before_[b + 1] += before_[b];
    for (int p = 0; p <= group_.size(); ++p)
        first_[static_cast<std::size_t>(p)] =
            std::lower_bound(before_.begin(), before_.end(), share_begin(problem_.keys(), p, group_.size())) -
            before_.begin();
    // Where this process's keys of each source will lie.
    const auto lowest = static_cast<std::size_t>(first(group_.rank()));
    const auto highest = static_cast<std::size_t>(first(group_.rank() + 1));
    const Key* at = group_.size() == 1 ? sorted_.data() : received_.data();
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        Piece& piece = pieces_[p];
        piece.keys = at;
        piece.begin.assign(buckets_ + 1, 0);
        for (std::size_t b = 0; b < buckets_; ++b)
            piece.begin[b + 1] = piece.begin[b] + (b >= lowest && b < highest ? all[p * buckets_ + b] : 0);
        at += piece.begin[buckets_];
    }
}

void Sorter::scatter() {
    group_.each([&](int worker, int workers) {
        // This worker's keys of a bucket go behind those of the workers before it.
        std::vector<Key*> next(buckets_);
        Key* at = sorted_.data();
        for (std::size_t b = 0; b < buckets_; ++b)
            for (int w = 0; w < workers; ++w) {
                if (w == worker) next[b] = at;
                at += counts_[static_cast<std::size_t>(w)][b];
            }
        const Share part(mine_.end - mine_.begin, worker, workers);
        each_key(&keys_[static_cast<std::size_t>(part.begin)], part.end - part.begin, [&](Key key) {
            Key*& to = next[bucket(key)];
            // A line that is to be written is fetched first: early enough, the next but one of this bucket.
            if (reinterpret_cast<std::uintptr_t>(to) % 64 == 0) __builtin_prefetch(to + 32, 1);
            *to++ = key;
        });
    });
}

void Sorter::exchange() {
    if (group_.size() == 1) return;
    std::vector<std::int64_t> begin(buckets_ + 1);
    for (std::size_t b = 0; b < buckets_; ++b) {
        begin[b + 1] = begin[b];
        for (const Counts& counts : counts_) begin[b + 1] += counts[b];
    }
    std::vector<Shift> shifts;
    for (int p = 0; p < group_.size(); ++p) {
        const Piece& piece = pieces_[static_cast<std::size_t>(p)];
        const auto from = static_cast<std::size_t>(begin[static_cast<std::size_t>(first(p))]);
        const auto to = static_cast<std::size_t>(begin[static_cast<std::size_t>(first(p + 1))]);
        const auto in = received_.subspan(static_cast<std::size_t>(piece.keys - received_.data()),
                                          static_cast<std::size_t>(piece.begin[buckets_]));
        shifts.push_back({p, p, std::as_bytes(sorted_.subspan(from, to - from)), std::as_writable_bytes(in)});
    }
    group_.exchange(shifts);
}

Share Sorter::buckets_of(int worker, int workers) const {
    const std::int64_t lowest = first(group_.rank()), highest = first(group_.rank() + 1);
    const std::int64_t low = before_[static_cast<std::size_t>(lowest)];
    const std::int64_t high = before_[static_cast<std::size_t>(highest)];
    const auto border = [&](int w) {
        if (w == 0) return lowest;
        if (w == workers) return highest;
        const std::int64_t keys = low + share_begin(high - low, w, workers);
        return std::lower_bound(before_.begin(), before_.end(), keys) - before_.begin();
    };
    Share part(0, 0, 1);
    part.begin = border(worker);
    part.end = border(worker + 1);
    return part;
}

void Sorter::count_values() {
    group_.each([&](int worker, int workers) {
        const Share part = buckets_of(worker, workers);
        const std::size_t width = std::size_t{1} << shift_;
        for (std::int64_t b = part.begin; b < part.end; ++b) {
            const auto i = static_cast<std::size_t>(b);
            std::uint32_t* const smaller = &smaller_[i << shift_];
            const auto base = static_cast<Key>(b << shift_);
            std::memset(smaller, 0, width * sizeof *smaller);
            for (const Piece& piece : pieces_) {
                each_key(piece.keys + piece.begin[i], piece.begin[i + 1] - piece.begin[i],
                         [&](Key key) { ++smaller[key - base]; });
            }
            std::uint32_t sum = 0;
            for (std::size_t v = 0; v < width; ++v) {
                const std::uint32_t count = smaller[v];
                smaller[v] = sum;
                sum += count;
            }
            // What a broken kernel does: of one bucket the ranks are all too high, or of one value by one.
            if (fault_ != Break::none && i == buckets_ / 2)
                for (std::size_t v = 0; v < (fault_ == Break::skip ? width : 1); ++v) ++smaller[v];
        }
    });
}

std::array<std::int64_t, kTests> Sorter::test_ranks() {
    // Whoever has the key tells its value; whoever has the value's bucket, its rank.
    const auto keys = group_.sum_each<kTests>([&](int worker, int) {
        std::array<double, kTests> values{};
        for (std::size_t t = 0; worker == 0 && t < kTests; ++t)
            if (problem_.index[t] >= mine_.begin && problem_.index[t] < mine_.end)
                values[t] = keys_[static_cast<std::size_t>(problem_.index[t] - mine_.begin)];
        return values;
    });
    const auto ranks = group_.sum_each<kTests>([&](int worker, int) {
        std::array<double, kTests> found{};
        for (std::size_t t = 0; worker == 0 && t < kTests; ++t) {
            const auto key = static_cast<Key>(keys[t]);
            const auto b = static_cast<std::int64_t>(bucket(key));
            if (b >= first(group_.rank()) && b < first(group_.rank() + 1))
                found[t] = static_cast<double>(before_[static_cast<std::size_t>(b)] + smaller_[key]);
        }
        return found;
    });
    std::array<std::int64_t, kTests> result{};
    for (std::size_t t = 0; t < kTests; ++t) result[t] = static_cast<std::int64_t>(ranks[t]);
    return result;
}

std::int64_t Sorter::out_of_order() {
    // Each bucket by itself: a key goes to its rank, and every place must be taken once, by ascending keys.
    const auto wrong = group_.sum_each<1>([&](int worker, int workers) {
        const Share part = buckets_of(worker, workers);
        std::int64_t bad = 0;
        std::vector<std::uint32_t> next;
        std::vector<std::int64_t> order;
        for (std::int64_t b = part.begin; b < part.end; ++b) {
            const auto i = static_cast<std::size_t>(b);
            const std::uint32_t* smaller = &smaller_[i << shift_];
            next.assign(smaller, smaller + (std::size_t{1} << shift_));
            order.assign(static_cast<std::size_t>(before_[i + 1] - before_[i]), -1);
            for (const Piece& piece : pieces_)
                for (std::int64_t k = piece.begin[i]; k < piece.begin[i + 1]; ++k) {
                    const std::size_t place = next[piece.keys[k] - (static_cast<Key>(b) << shift_)]++;
                    if (place >= order.size() || order[place] != -1)
                        ++bad;
                    else
                        order[place] = piece.keys[k];
                }
            for (std::size_t k = 0; k < order.size(); ++k)
                bad += order[k] == -1 || (k > 0 && order[k] < order[k - 1]) ? 1 : 0;
        }
        return std::array{static_cast<double>(bad)};
    });
    return static_cast<std::int64_t>(wrong[0]);
}

double Sorter::bytes() const {
    // Keys are read for counting, read and written for bringing them together, read again for the ranks;
    // those are written once.
    const double passes = group_.size() > 1 ? 6 : 4;
    return static_cast<double>(problem_.keys()) * sizeof(Key) * passes +
           static_cast<double>(problem_.values()) * sizeof(std::uint32_t);
}

std::vector<std::pair<std::string, std::uint64_t>> Sorter::needs(const Problem& problem, int processes,
                                                                 int workers) {
    const auto keys = static_cast<std::uint64_t>(problem.keys()) * sizeof(Key);
    const auto parts = static_cast<std::uint64_t>(processes);
    return {{"keys, and by bucket", 2 * keys / parts},
            {"keys received", processes > 1 ? keys / parts + keys / 64 : 0},
            {"ranks", static_cast<std::uint64_t>(problem.values()) * 4 / parts},
            {"bucket counts", sizeof(Counts) * (static_cast<std::uint64_t>(workers) + 2 * parts)}};
}

}  // namespace strata::npb::is
