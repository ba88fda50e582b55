//! Programs at page faults.

/// `page_fault_user(address, registers, error_code)`: a page fault of the program's own code.
///
/// The mode is still that of a fault if the one before ended in a signal: the kernel does not count
/// it. The new fault's kind is its own.
pub const USER_FAULT_ENTRY: &str = "
    CURRENT
    NOTE_ACCESS
    r9 = *(u64 *)(r7 + thread.mode)
    if r9 == MODE_FAULT goto out
    BEGIN_FAULT_MODE
    OUT
";

/// `page_fault_kernel(address, registers, error_code)`: a page fault within a call, or within the
/// handling of another one.
pub const KERNEL_FAULT_ENTRY: &str = "
    CURRENT
    r9 = *(u64 *)(r7 + thread.mode)
    if r9 == MODE_FAULT goto out
    NOTE_ACCESS
    BEGIN_FAULT_MODE
    OUT
";

/// `rss_stat(memory, kind)`: the number of a process's pages of this kind changes.
pub const FAULT_PAGE: &str = "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_FAULT goto out
    r1 = *(u32 *)(r6 + 8)
    r1 += 1
    *(u64 *)(r7 + thread.fault_page) = r1
    OUT
";

/// The kernel's own count of page faults grows at the end of each.
///
/// At a write to a page that is present, the kernel copies the page, or lets the process keep it if
/// no other one uses it. Else it has mapped pages of a file, or a page of the process's own, or, at
/// a read, the page of zeros, which it does not count.
pub const MINOR_FAULT: &str = "
    FAULT_EXIT
    r1 = *(u64 *)(r7 + thread.fault_page)
    r2 = *(u64 *)(r7 + thread.fault_access)
    r5 = FAULT_COPY
    if r2 == PRESENT_WRITE goto found
    r5 = FAULT_OTHER
    if r2 == PRESENT goto found
    r5 = FAULT_FILE
    if r1 == PAGE_OF_FILE goto found
    r5 = FAULT_ANONYMOUS
    if r1 == PAGE_ANONYMOUS goto found
    r5 = FAULT_OTHER
    if r1 != 0 goto found
    if r2 == WRITE goto found
    r5 = FAULT_ZERO
found:
    r2 = r5
    r2 <<= 3
    r2 += r7
    r1 = *(u64 *)(r2 + thread.minor)
    r1 += r4
    *(u64 *)(r2 + thread.minor) = r1
    r5 <<= 2
    r5 += r7
    r1 = *(u32 *)(r5 + thread.minor_faults)
    r1 += 1
    *(u32 *)(r5 + thread.minor_faults) = r1
    if r3 == MODE_USER goto outside
    r1 = *(u32 *)(r7 + thread.call_faults)
    r1 += 1
    *(u32 *)(r7 + thread.call_faults) = r1
    goto out
outside:
    r1 = *(u32 *)(r7 + thread.user_faults)
    r1 += 1
    *(u32 *)(r7 + thread.user_faults) = r1
    OUT
";

/// A page fault that has read from storage.
pub const MAJOR_FAULT: &str = "
    FAULT_EXIT
    r1 = *(u64 *)(r7 + thread.major)
    r1 += r4
    *(u64 *)(r7 + thread.major) = r1
    r1 = *(u32 *)(r7 + thread.major_faults)
    r1 += 1
    *(u32 *)(r7 + thread.major_faults) = r1
    OUT
";

/// `mm_filemap_fault(file, page)`
pub const FILE_FAULT: &str = "
    BEGIN_FAULT
    r1 = 1
    *(u64 *)(r9 + event.fault_pages) = r1
    SUBMIT
    OUT
";

/// `mm_filemap_map_pages(file, first, last)`: cached pages around a page fault were mapped.
pub const FILE_FAULTS: &str = "
    BEGIN_FAULT
    r1 = *(u64 *)(r6 + 16)
    r2 = *(u64 *)(r6 + 8)
    r1 -= r2
    r1 += 1
    *(u64 *)(r9 + event.fault_pages) = r1
    SUBMIT
    OUT
";
