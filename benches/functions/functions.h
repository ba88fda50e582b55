// Ten functions that Yamba, Google Benchmark and criterion time in scripts/compare-libraries.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

unsigned long add_numbers(void);
unsigned long length_of_text(void);
unsigned long copy_page(void);
unsigned long hash_text(void);
unsigned long search_sorted(void);
unsigned long walk_list(void);
unsigned long sort_numbers(void);
unsigned long print_number(void);
unsigned long allocate_memory(void);
unsigned long ask_parent(void);

#ifdef __cplusplus
}
#endif
