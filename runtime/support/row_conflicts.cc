#include "support/row_conflicts.h"

#include <math.h>

#include <algorithm>

#include "yamba/text.h"

namespace yamba {
namespace support {

namespace {

constexpr size_t lines_of_a_page = 64;   // 4 KiB
constexpr size_t block = 1024;           // pairs that are compared with each other
constexpr size_t most_blocks = 32;       // for one bank
constexpr size_t enough = 6, least = 3;  // conflicting partners of one base
constexpr unsigned int quick_rounds = 16, thorough_rounds = 64;
constexpr int visits = 4;
constexpr int attempts = 2;
constexpr double separate = 6;  // standard deviations

double quantile(std::vector<double> values, double q) {
    const size_t at = size_t(q * double(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), values.begin() + long(at), values.end());
    return values[at];
}

}  // namespace

size_t RowConflicts::below(size_t n) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return size_t(state_ % n);
}

// The mean of the lower half. Refreshes of the chips and other users of the memory lengthen many
// rounds, by more than a conflict. A mean is finer than the clock, which may count in steps of 10
// ns.
double RowConflicts::time(Pair pair, unsigned int rounds) {
    double readings[thorough_rounds];
    timer_(pair, readings, rounds);
    const unsigned int half = rounds / 2;
    std::nth_element(readings, readings + half, readings + rounds);
    double sum = 0;
    for (unsigned int i = 0; i < half; i++) sum += readings[i];
    return sum / half;
}

// Lines at the same place of their 4 KiB page are left out: a first-level cache that predicts the
// way from a hash of the address loads two such lines one after the other, and that takes longer
// than a conflict.
bool RowConflicts::may_pair(size_t line, size_t base) { return line % lines_of_a_page != base % lines_of_a_page; }

size_t RowConflicts::partner() {
    size_t line;
    do line = below(lines_);
    while (!may_pair(line, banks_[0].base) || !may_pair(line, banks_[1].base));
    return line;
}

// A line that is likely not in the first bank: of several, the one with the median time.
size_t RowConflicts::other_base() {
    std::vector<std::pair<double, size_t>> lines;
    while (lines.size() < 15) {
        const size_t line = below(lines_);
        if (may_pair(line, banks_[0].base)) lines.emplace_back(time({banks_[0].base, line}, thorough_rounds), line);
    }
    std::sort(lines.begin(), lines.end());
    return lines[lines.size() / 2].second;
}

// Disturbances only lengthen a visit, so a pair is slow only if every visit is. The limit comes
// from the pairs of the same few milliseconds, since the level drifts: Tukey's outer fence. A line
// that is far away is slow with the other base too.
void RowConflicts::search(Bank &bank) {
    const size_t other_base = banks_[&bank == banks_].base;
    std::vector<Pair> pairs(block);
    std::vector<double> times(block);
    for (size_t n = 0; n < most_blocks && bank.partners.size() < enough; n++) {
        for (size_t i = 0; i < block; i++) {
            pairs[i] = {bank.base, partner()};
            times[i] = time(pairs[i], quick_rounds);
        }
        tried_ += block;
        const double lower = quantile(times, 0.25), upper = quantile(times, 0.75), fence = upper + 3 * (upper - lower);
        const double middle = quantile(times, 0.5);
        for (size_t i = 0; i < block; i++) {
            bool is_slow = times[i] > fence;
            for (int visit = 1; is_slow && visit < visits; visit++) is_slow = time(pairs[i], quick_rounds) > fence;
            if (!is_slow) continue;
            const double own = time(pairs[i], thorough_rounds), other = time({other_base, pairs[i].other}, thorough_rounds);
            if (own > fence && own - other > (own - middle) / 2) bank.partners.push_back(pairs[i].other);
        }
    }
}

// The shortest of several visits, which alternate between all pairs: a disturbance does not meet
// the same pair in all of them.
void RowConflicts::measure(TimesOfBanks &times) {
    for (int b = 0; b < 2; b++) times[b].assign(banks_[b].partners.size(), {INFINITY, INFINITY});
    for (int visit = 0; visit < visits; visit++) {
        for (int b = 0; b < 2; b++) {
            for (size_t i = 0; i < times[b].size(); i++) {
                const size_t partner = banks_[b].partners[i];
                Times &each = times[b][i];
                each.own = std::min(each.own, time({banks_[b].base, partner}, thorough_rounds));
                each.other = std::min(each.other, time({banks_[1 - b].base, partner}, thorough_rounds));
            }
        }
    }
}

// Removes partners whose difference is less than half of the typical one.
void RowConflicts::remove_unconfirmed() {
    TimesOfBanks times;
    measure(times);
    std::vector<double> extra;
    for (const std::vector<Times> &of_bank : times) {
        for (const Times &each : of_bank) extra.push_back(each.extra());
    }
    const double limit = quantile(extra, 0.5) / 2;
    for (int b = 0; b < 2; b++) {
        std::vector<size_t> confirmed;
        for (size_t i = 0; i < times[b].size(); i++) {
            if (times[b][i].extra() > limit) confirmed.push_back(banks_[b].partners[i]);
        }
        banks_[b].partners = confirmed;
    }
}

// Judges the groups by readings that did not choose them: chance alone would choose extreme ones.
bool RowConflicts::judge() {
    TimesOfBanks times;
    measure(times);
    double middle[2];
    std::vector<double> own, other, distances;
    for (int b = 0; b < 2; b++) {
        std::vector<double> extra;
        for (const Times &each : times[b]) extra.push_back(each.extra()), own.push_back(each.own), other.push_back(each.other);
        middle[b] = quantile(extra, 0.5);
        for (double each : extra) distances.push_back(fabs(each - middle[b]));
    }
    // If one base is faster in all its pairs, the mean over both banks removes that.
    difference_ = (middle[0] + middle[1]) / 2;
    // 1.4826 times the median distance estimates the standard deviation. The clock's steps can make
    // it 0.
    const double deviation = std::max(1.4826 * quantile(distances, 0.5), 0.01 * fabs(difference_));
    separation_ = deviation > 0 ? difference_ / deviation : 0;

    const double limit = (quantile(own, 0.5) + quantile(other, 0.5)) / 2;
    size_t agree = 0;
    for (size_t i = 0; i < own.size(); i++) agree += size_t(own[i] > limit) + size_t(other[i] < limit);
    agreement_ = double(agree) / double(2 * own.size());
    share_ = double(own.size()) / double(tried_);
    return separation_ >= separate;
}

bool RowConflicts::attempt() {
    tried_ = 0;
    banks_[0].base = below(lines_);
    banks_[1].base = other_base();
    for (Bank &bank : banks_) {
        bank.partners.clear();
        search(bank);
        if (bank.partners.size() < least) {
            reason_ = Text().addf("of %zu pairs of lines, %zu load slowly each time", tried_, bank.partners.size()).c_str();
            return false;
        }
    }
    remove_unconfirmed();
    for (const Bank &bank : banks_) {
        if (bank.partners.size() < least) {
            reason_ = "lines that load slowly with one line load as slowly with another one";
            return false;
        }
    }
    if (judge()) return true;
    reason_ = Text()
                  .addf("slow and fast pairs of lines are no separate groups: they differ by %.1f ns, %.1f standard deviations",
                        difference_, separation_)
                  .c_str();
    return false;
}

bool RowConflicts::find() {
    bool is_found = false;
    for (int i = 0; i < attempts && !is_found; i++) is_found = attempt();
    if (!is_found) return false;
    for (int b = 0; b < 2; b++) {
        for (size_t partner : banks_[b].partners) {
            conflicting.push_back({banks_[b].base, partner});
            exchanged.push_back({banks_[1 - b].base, partner});
        }
    }
    return true;
}

}  // namespace support
}  // namespace yamba
