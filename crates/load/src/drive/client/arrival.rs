//! When bytes arrived at this machine, by the kernel: the time from then until they are read is a
//! delay of this program, and not of the server.

use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::time::Duration;

use tokio::net::TcpStream;

/// Room for one control message with a time.
const CONTROL_BYTES: usize = 64;

/// Memory for control messages, which the kernel writes as a list of headers.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Asks the kernel for the time at which the bytes of each read arrived. A kernel that refuses says
/// no times.
pub(super) fn stamp_arrivals(stream: &TcpStream) {
    let on: libc::c_int = 1;
    // SAFETY: The descriptor is open, and the option is an integer of this size.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
}

/// Reads bytes. Returns their number, and when the last of them arrived, since 1970.
pub(super) fn receive(
    stream: &TcpStream,
    into: &mut [u8],
) -> io::Result<(usize, Option<Duration>)> {
    let mut bytes = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let mut control = Control([0; CONTROL_BYTES]);
    // SAFETY: The structure has only numbers and pointers, for which zero is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: The descriptor is open, and the message names memory that lives until the call ends.
    let length = unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok((length, arrival(&message)))
}

/// The time in the control messages that the kernel wrote.
fn arrival(message: &libc::msghdr) -> Option<Duration> {
    // SAFETY: The kernel has set the length of the control messages, which lie within their memory.
    let first = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: The pointer is null or that of a whole header.
    let header = unsafe { first.as_ref() }?;
    if header.cmsg_level != libc::SOL_SOCKET || header.cmsg_type != libc::SCM_TIMESTAMPNS {
        return None;
    }
    // SAFETY: A message of this type has a whole `timespec`, perhaps at an odd address.
    let time: libc::timespec =
        unsafe { libc::CMSG_DATA(first).cast::<libc::timespec>().read_unaligned() };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}
