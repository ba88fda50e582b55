#include "functions.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { numbers = 1000, sorted_numbers = 1 << 16 };

static char text[1025];
static unsigned char from[4096], to[4096];
static int sorted[sorted_numbers];
static struct link { struct link *next; } links[numbers];

// Runs before `main`, in each of the three programs.
__attribute__((constructor)) static void prepare(void)
{
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < sorted_numbers; i++) sorted[i] = 3 * i;
    for (int i = 0; i < numbers; i++) links[i * 7 % numbers].next = &links[(i + 1) * 7 % numbers];
}

unsigned long add_numbers(void)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 100; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

unsigned long length_of_text(void) { return strlen(text); }

unsigned long copy_page(void)
{
    memcpy(to, from, sizeof to);
    return to[1];
}

unsigned long hash_text(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

unsigned long search_sorted(void)
{
    size_t low = 0, high = sorted_numbers;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle] < 123456) low = middle + 1;
        else high = middle;
    }
    return low;
}

unsigned long walk_list(void)
{
    const struct link *at = links;
    for (int i = 0; i < numbers; i++) at = at->next;
    return (unsigned long)at;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

unsigned long sort_numbers(void)
{
    int values[numbers];
    for (int i = 0; i < numbers; i++) values[i] = i * 7919 % numbers;
    qsort(values, numbers, sizeof *values, compare);
    return (unsigned long)values[1];
}

unsigned long print_number(void)
{
    char out[32];
    return (unsigned long)snprintf(out, sizeof out, "%d %.3f", 12345, 6.789);
}

unsigned long allocate_memory(void)
{
    char *memory = malloc(200);
    memory[0] = 1;
    __asm__ volatile("" : : "r"(memory) : "memory");
    free(memory);
    return 1;
}

unsigned long ask_parent(void) { return (unsigned long)getppid(); }
