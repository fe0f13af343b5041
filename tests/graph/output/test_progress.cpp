#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/run/steer/progress.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata::graph;
using namespace strata::tests;

TEST_CASE("the rate is that of the last seconds, and the estimate follows it") {
    Pace pace({1000, std::nullopt, ""});
    CHECK_FALSE(pace.rate().has_value());
    CHECK_FALSE(pace.done().has_value());
    for (int step = 0; step <= 100; ++step) pace.at(step, 0, 100 + step * 1.0);  // 1 step/s
    CHECK(pace.rate().value() == Approx(1).epsilon(0.01));
    CHECK(pace.left().value() == Approx(900).epsilon(0.01));
    for (int step = 101; step <= 500; ++step) pace.at(step, 0, 200 + (step - 100) * 0.05);  // 20 steps/s
    CHECK(pace.rate().value() == Approx(20).epsilon(0.02));
    CHECK(pace.left().value() == Approx(25).epsilon(0.02));
    CHECK(pace.done().value() == Approx(0.5));
}

TEST_CASE("a run that ends at a time, with steps of changing length, is estimated by time") {
    Pace pace({std::nullopt, 10.0, "ms"});
    for (int step = 0; step <= 100; ++step) pace.at(step, 0.02 * step, 0.1 * step);  // 0.2 ms a second
    CHECK(pace.left().value() == Approx(40));
    CHECK(pace.done().value() == Approx(0.2));
    CHECK(progress_line(pace) == "step 100, 20 %, t = 2 of 10 ms, 10 steps/s, 40 s left");
}

TEST_CASE("of two ends the nearer one counts") {
    Pace pace({200, 100.0, "s"});
    for (int step = 0; step <= 100; ++step) pace.at(step, 0.1 * step, step);
    CHECK(pace.left().value() == Approx(100));
    CHECK(pace.done().value() == Approx(0.5));
    CHECK(progress_line(pace) == "step 100 of 200, 50 %, t = 10 of 100 s, 1 steps/s, 1 min 40 s left");
}

TEST_CASE("progress redraws one line on a terminal and adds a line every ten seconds elsewhere") {
    const TemporaryFolder folder;
    const bool terminal = GENERATE(false, true);
    const auto file = folder.path() / "out";
    const int out = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    const bool finished = GENERATE(true, false);  // false: an error ends the run
    {
        Progress progress({500, std::nullopt, "s"}, out, terminal);
        for (int step = 1; step <= 252; ++step) progress.at(step, step, 0.1 * step);
        if (finished) progress.finish();
    }
    ::close(out);
    const std::string text = text_of(file);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    const auto redrawn = std::count(text.begin(), text.end(), '\r');
    CHECK(text.back() == '\n');
    CHECK(has(text, "step 252 of 500, 50 %") == (finished || terminal));
    if (terminal) {
        CHECK(lines == 1);
        CHECK(redrawn > 2 * 80);
        CHECK(redrawn < 2 * 130);
    } else {
        CHECK(lines == (finished ? 4 : 3));  // at 0.1, 10.1, 20.1 seconds and at the end
        CHECK(redrawn == 0);
    }
}

TEST_CASE("a rate reads well whether steps are fast or slow") {
    const auto line = [](double seconds_a_step) {
        Pace pace({std::nullopt, std::nullopt, ""});
        for (int step = 0; step <= 4; ++step) pace.at(step, 0, seconds_a_step * step);
        return progress_line(pace);
    };
    CHECK(line(1 / 12345.0) == "step 4, t = 0, 12345 steps/s");
    CHECK(line(1 / 83.4) == "step 4, t = 0, 83.4 steps/s");
    CHECK(line(12.5) == "step 4, t = 0, 12.5 s/step");
}

TEST_CASE("a line that is said stays, and progress goes on below it") {
    const bool terminal = GENERATE(false, true);
    FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    Progress progress({4, std::nullopt, ""}, ::fileno(file), terminal);
    progress.at(1, 0, 1);
    progress.say("patches moved");
    progress.at(4, 0, 2);
    progress.finish();
    std::rewind(file);
    char text[512];
    const std::string shown(text, std::fread(text, 1, sizeof text, file));
    std::fclose(file);
    const auto said = shown.find("patches moved");
    REQUIRE(said != std::string::npos);
    CHECK(shown.find('\n', said) < shown.find("step 4 of 4"));
    CHECK(shown.find("step 1 of 4") < said);
}

TEST_CASE("a line is cut to the width of the terminal") {
    const int outer = ::posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(outer >= 0);
    REQUIRE((::grantpt(outer) == 0 && ::unlockpt(outer) == 0));
    const int inner = ::open(::ptsname(outer), O_RDWR | O_NOCTTY);
    winsize size{};
    size.ws_col = 20;
    REQUIRE(::ioctl(inner, TIOCSWINSZ, &size) == 0);
    {
        Progress progress({500, 1.0, "s"}, inner);  // finds out that it is one
        progress.at(123, 0.5, 1);
        progress.finish();
    }
    std::string text;  // what was written may come in parts
    for (pollfd ready{outer, POLLIN, 0}; !text.ends_with('\n') && ::poll(&ready, 1, 5000) == 1;) {
        char part[256];
        const auto count = ::read(outer, part, sizeof part);
        REQUIRE(count > 0);
        text.append(part, static_cast<std::size_t>(count));
    }
    ::close(inner), ::close(outer);
    CHECK(text == "\rstep 123 of 500, 50\x1b[K\r\r\n");
}
