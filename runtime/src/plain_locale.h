// Numbers in texts, whatever the locale of the author's code.
#pragma once

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace yamba {

// Makes numbers of this thread have a decimal point while it exists. The author's code may have
// chosen a locale in which they have a comma.
class PlainLocale {
  public:
    PlainLocale() : former_(uselocale(plain())) {}
    ~PlainLocale() { uselocale(former_); }
    PlainLocale(const PlainLocale &) = delete;
    PlainLocale &operator=(const PlainLocale &) = delete;

  private:
    static locale_t plain() {
        static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
        return locale;
    }

    locale_t former_;
};

}  // namespace yamba
