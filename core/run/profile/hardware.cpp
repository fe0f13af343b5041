#include "core/run/profile/hardware.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <papi.h>
#include <pthread.h>

#include <array>
#include <utility>

#include "core/base/error.hpp"
#include "core/run/profile/measured.hpp"

namespace strata::graph {

namespace {

/// The default events, the most useful first: processors count only a few at once.
constexpr std::array kUsual = {"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_L3_TCM", "PAPI_L2_DCM"};

std::string reason(int error) {
    const char* text = PAPI_strerror(error);
    return text == nullptr ? fmt::format("PAPI's error {}", error) : text;
}

[[noreturn]] void refuse(const std::string& what, int error, const std::string& given) {
    throw Error(fmt::format("{}: {}", what, reason(error)))
        .given(given)
        .remedy(
            "papi_avail and papi_native_avail list what is there; --counters simulated needs no counters");
}

void start_library() {
    static const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT)
        throw Error("PAPI cannot be started: " + (version < 0 ? reason(version) : "of another version"),
                    kFailure);
    static const int threads = PAPI_thread_init([]() -> unsigned long { return pthread_self(); });
    if (threads != PAPI_OK) throw Error("PAPI cannot count by thread: " + reason(threads), kFailure);
}

/// The reason why the component for the processor's events does not work, or "".
std::string why_no_processor() {
    for (int component = 0; component < PAPI_num_components(); ++component) {
        const PAPI_component_info_t* info = PAPI_get_component_info(component);
        if (info != nullptr && std::string(info->name) == "perf_event")
            return info->disabled != 0 ? info->disabled_reason : "";
    }
    return "PAPI was built without perf_event";
}

/// The event set of one thread, while it lives.
class Set final : public Readings {
  public:
    ~Set() override {
        clear();
        if (known_) PAPI_unregister_thread();
    }

    void start(const std::vector<std::string>& events) override {
        if (events == events_) return;  // already counting
        clear();
        known_ = true;
        if (const int error = PAPI_create_eventset(&set_); error != PAPI_OK)
            refuse("no events can be counted", error, "--counters hardware");
        for (const std::string& event : events)
            if (const int error = PAPI_add_named_event(set_, event.c_str()); error != PAPI_OK) {
                clear();
                refuse("this event cannot be counted", error, event);
            }
        if (const int error = PAPI_start(set_); error != PAPI_OK) {
            clear();
            refuse("these events cannot be counted together", error,
                   fmt::format("{}", fmt::join(events, ",")));
        }
        events_ = events;
    }
    void read(long long* values) override {
        if (const int error = PAPI_read(set_, values); error != PAPI_OK)
            throw Error("the counters cannot be read: " + reason(error), kFailure);
    }

  private:
    void clear() {
        if (set_ == PAPI_NULL) return;
        if (!events_.empty()) {
            std::vector<long long> last(events_.size());
            PAPI_stop(set_, last.data());
        }
        PAPI_cleanup_eventset(set_);
        PAPI_destroy_eventset(&set_);
        set_ = PAPI_NULL;
        events_.clear();
    }

    int set_ = PAPI_NULL;
    bool known_ = false;
    std::vector<std::string> events_;  // the events being counted
};

Readings& set_of_this_thread() {
    static thread_local Set set;
    return set;
}

/// The usual events that can be counted together.
std::vector<std::string> usual_events() {
    std::vector<std::string> events;
    int set = PAPI_NULL;
    if (const int error = PAPI_create_eventset(&set); error != PAPI_OK)
        refuse("no events can be counted", error, "--counters hardware");
    for (const char* event : kUsual)
        if (PAPI_add_named_event(set, event) == PAPI_OK) events.emplace_back(event);
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
    return events;
}

}  // namespace

std::unique_ptr<Counting> make_hardware_counting(const std::vector<std::string>& wanted) {
    start_library();
    std::vector<std::string> events = wanted;
    if (events.empty()) {
        events = usual_events();
        if (events.empty()) {
            const std::string why = why_no_processor();
            throw Error(
                fmt::format("hardware counters are not offered here{}{}", why.empty() ? "" : ": ", why))
                .given("--counters hardware")
                .allowed("on a machine, or a virtual one, that passes the processor's counters on")
                .remedy("--counters simulated; strata machine says what the system grants");
        }
    }
    set_of_this_thread().start(events);  // reports events that cannot be counted
    return make_measured_counting(
        std::move(events),
        fmt::format("PAPI {}.{}.{}, its own readings subtracted", PAPI_VERSION_MAJOR(PAPI_VERSION),
                    PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION)),
        set_of_this_thread);
}

}  // namespace strata::graph
