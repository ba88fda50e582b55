//! Files of another host: evidence that fails where it must. Where a server or a name space is missing, the benchmark says so, and so does the test.

use crate::evidence::{Wrong, all_are_caught};
use crate::support::{Yamba, has};

const WRONG: [Wrong; 4] = [
    Wrong {
        name: "cache_kept",
        base: "lat_remote_read_sshfs",
        evidence: "received_per_byte",
        members: "void forget() { if (mounted_file.file < 0) super::forget(); }",
    },
    Wrong {
        name: "cache_filled",
        base: "lat_remote_read_sshfs",
        evidence: "client_pages_before_pass",
        members: "void forget()
         {
             super::forget();
             for (size_t at = 0; at < size; at += block) super::read_at(at);
             mounted_file.look(size);
         }",
    },
    Wrong {
        name: "another_block",
        base: "lat_remote_read_smb",
        evidence: "blocks_right",
        members: "const byte_t *read_at(size_t offset) { return super::read_at(offset == 0 ? block : 0); }",
    },
    Wrong {
        name: "nothing_read",
        base: "lat_remote_read_nfs",
        evidence: "received_per_byte",
        members: "const byte_t *read_at(size_t offset) { return content() + offset; }",
    },
];

#[test]
fn evidence_fails_where_it_must() {
    if !has("g++") {
        return;
    }
    all_are_caught(Yamba::new(), "", &WRONG, "");
}
