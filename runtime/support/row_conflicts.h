// Finds pairs of lines that lie in the same bank of the memory chips, but in different rows. A bank
// has one open row, so the second load of such a pair waits until the bank has closed the row of
// the first one and opened the other (P. Pessl et al., DRAMA, 2016).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

namespace yamba {
namespace support {

class RowConflicts {
  public:
    struct Pair {
        size_t line, other;
    };
    // Writes `rounds` readings, in nanoseconds, of the time to load both lines from memory at once.
    using Timer = std::function<void(Pair pair, double *readings, unsigned int rounds)>;

    // `lines` is the number of cache lines in the buffer, `seed` chooses among them.
    RowConflicts(size_t lines, Timer timer, uint64_t seed) : lines_(lines), timer_(std::move(timer)), state_(seed | 1) {}

    // Searches the partners of two lines that are in different banks. Returns whether the pairs
    // form two separate groups; if not, `reason` says why.
    bool find();
    const std::string &reason() const { return reason_; }

    // Pairs that conflict. Each line of one bank is paired with another line of the same bank.
    std::vector<Pair> conflicting;
    // The same lines, paired across the two banks: they do not conflict.
    std::vector<Pair> exchanged;

    // Conflicting pairs per pair that was tried; with addresses spread evenly, 1 / number of banks.
    double share() const { return share_; }
    // The difference between the groups, in standard deviations of the difference of single lines.
    double separation() const { return separation_; }
    // The share of pairs that two independent measurements put into the same group.
    double agreement() const { return agreement_; }
    // Nanoseconds by which a conflicting pair takes longer.
    double difference() const { return difference_; }
    // Pairs that were tried in all.
    size_t tried() const { return tried_; }

  private:
    struct Bank {
        size_t base;
        std::vector<size_t> partners;
    };
    // The time of each partner with the base of its own bank, and with the other base.
    struct Times {
        double own, other;
        double extra() const { return own - other; }
    };
    using TimesOfBanks = std::vector<Times>[2];

    size_t below(size_t n);
    double time(Pair pair, unsigned int rounds);
    static bool may_pair(size_t line, size_t base);
    size_t partner();
    size_t other_base();
    void search(Bank &bank);
    void measure(TimesOfBanks &times);
    void remove_unconfirmed();
    bool judge();
    bool attempt();

    size_t lines_;
    Timer timer_;
    uint64_t state_;
    Bank banks_[2];
    std::string reason_;
    size_t tried_ = 0;
    double share_ = 0, separation_ = 0, agreement_ = 0, difference_ = 0;
};

}  // namespace support
}  // namespace yamba
