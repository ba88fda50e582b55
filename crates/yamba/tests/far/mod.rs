//! A far end for `yamba run --remote`: the test's own ssh server, and the leftovers of a run that
//! used it.

mod server;

use std::fs;
use std::path::Path;

pub use server::Server;

use crate::support::{Yamba, needs, processes_of, until};

/// An ssh server and its folder.
pub struct Far {
    pub server: Server,
    _folder: tempfile::TempDir,
}

impl Far {
    /// Starts the server with `start`, which receives a folder for it.
    pub fn new(start: impl FnOnce(&Path) -> Server) -> Far {
        needs(&["ssh", "ssh-keygen", server::PROGRAM]);
        let folder = tempfile::tempdir().unwrap();
        Far { server: start(folder.path()), _folder: folder }
    }

    pub fn yamba(&self) -> Yamba {
        Yamba::new().env("YAMBA_SSH", self.server.ssh())
    }

    #[track_caller]
    pub fn leaves_nothing(&self) {
        let far = self.server.far();
        until("something is left on the far machine", || {
            processes_of(&far).is_empty() && fs::read_dir(&far).unwrap().count() == 0
        });
    }
}
