//! Encrypted connections to PostgreSQL. The server says what was encrypted, and `psql` connects
//! with the same URL as a second opinion.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::TestStore;
use super::server::{NOBODY, Server, configure, is_root, launched};
use yamba_store::{Location, Store, StoreError};

/// Sections of certificates for openssl.
const SECTIONS: &str = "\
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:db.example
[common]
basicConstraints = critical, CA:FALSE
";

/// Users by the connections that the server allows them.
const RULES: &str = "\
local all all trust
hostssl all cert all cert
hostssl all scram all scram-sha-256
hostnossl all plain all trust
hostssl all tls all trust
host all yamba all trust
";

/// The outcome of a URL.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// A connection without TLS.
    Plain,
    /// A connection with TLS.
    Tls,
    /// An error that contains this text.
    Error(&'static str),
    /// The outcome where psql connects: libpq ignores a named file that is missing.
    StricterThanPsql(&'static str),
}

use Expected::{Error, Plain, StricterThanPsql, Tls};

#[test]
#[ignore = "needs postgres, psql and openssl"]
fn sslmode_decides_on_encryption_and_checks() {
    let mut sealed = Sealed::start();
    without_tls(&sealed);
    sealed.restart("ssl = on\nssl_cert_file = '../server.crt'\nssl_key_file = '../server.key'\nssl_ca_file = '../ca.crt'");
    each_mode(&sealed);
    client_certificate_logs_in(&sealed);
    scram_is_bound_to_the_channel(&sealed);
    faulty_files_are_named(&sealed);
    environment_and_service_give_parameters(&sealed);
    sealed.restart("ssl_cert_file = '../common.crt'\nssl_key_file = '../common.key'");
    common_name_counts_without_alternative_names(&sealed);
    sealed.restart("ssl_cert_file = '../ca.crt'\nssl_key_file = '../ca.key'");
    server_may_sign_its_own_certificate(&sealed);
    sealed.restart("ssl_cert_file = '../first.crt'\nssl_key_file = '../server.key'");
    certificate_of_the_first_version_is_refused(&sealed);
    sealed.restart("ssl_cert_file = '../past.crt'\nssl_key_file = '../server.key'");
    expired_certificate_is_refused(&sealed);
}

/// A server with certificates in its folder, at an address of its own.
struct Sealed {
    server: Server,
    address: String,
}

impl Sealed {
    fn start() -> Sealed {
        let server = Server::start();
        make_certificates(server.folder.path());
        drop(TestStore::database(&server.database("sealed", "")).open());
        server.sql(
            "postgres",
            "CREATE ROLE cert SUPERUSER LOGIN; CREATE ROLE scram SUPERUSER LOGIN PASSWORD 'secret'; CREATE ROLE plain SUPERUSER LOGIN; CREATE ROLE tls SUPERUSER LOGIN",
        );
        // All of 127.0.0.0/8 is this machine: tests at the same time do not compete for a port.
        let [.., high, low] = std::process::id().to_be_bytes();
        let address = format!("127.77.{high}.{low}");
        let mut sealed = Sealed { server, address };
        fs::write(sealed.path("data/pg_hba.conf"), RULES).unwrap();
        sealed.restart(&format!("listen_addresses = '{}'", sealed.address));
        sealed
    }

    fn restart(&mut self, settings: &str) {
        self.server.stop();
        configure(self.server.folder.path(), settings);
        self.server.process = launched(self.server.folder.path());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.server.folder.path().join(name)
    }

    /// A URL with this user and host. `FOLDER` in the parameters is the server's.
    fn url(&self, user: &str, parameters: &str) -> String {
        let folder = self.server.folder.path().display().to_string();
        let parameters = parameters.replace("FOLDER", &folder.replace('/', "%2F"));
        let address = &self.address;
        format!("postgresql://{user}/sealed?hostaddr={address}&{parameters}")
    }

    /// Opens the store, and has psql open the same database.
    fn check(&self, user: &str, parameters: &str, expected: Expected) {
        let url = self.url(user, parameters);
        let opened = self.opened(&url);
        let psql = psql(&url);
        let said = format!("{url}\n{opened:?}\n{psql:?}");
        match (expected, opened) {
            (Plain, Ok(is_tls)) => assert!(!is_tls && psql.stdout == b"f\n", "{said}"),
            (Tls, Ok(is_tls)) => assert!(is_tls && psql.stdout == b"t\n", "{said}"),
            (Error(text), Err(error)) => {
                assert!(!psql.status.success(), "{said}");
                is_clear(&error, text);
            }
            (StricterThanPsql(text), Err(error)) => {
                assert!(psql.status.success(), "{said}");
                is_clear(&error, text);
            }
            _ => panic!("not {expected:?}: {said}"),
        }
    }

    /// Whether the server has a connection with TLS while the store is open.
    fn opened(&self, url: &str) -> Result<bool, StoreError> {
        let store = Store::existing(&Location::parse(OsStr::new(url))?)?;
        assert!(store.is_some(), "{url}");
        let count = |condition: &str| {
            let sql = format!(
                "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'yamba' AND {condition}"
            );
            self.server.count("postgres", &sql)
        };
        // The connection of the check before may not have ended yet.
        while count("TRUE") > 1 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(count("ssl") == 1)
    }
}

/// One line with the store and the fault, and a fix.
fn is_clear(error: &StoreError, text: &str) {
    let said = error.to_string();
    assert!(said.contains(text) && !said.contains('\n'), "{said}");
    assert!(error.help_text().is_some(), "{said}");
}

fn psql(url: &str) -> Output {
    Command::new("psql")
        .args(["-XAtw", "-c"])
        .arg("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        .arg(url)
        .output()
        .expect("psql is missing: scripts/install-missing test installs it")
}

/// The arguments for a new key and certificate.
const NEW: &str =
    "req -x509 -config sections -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";

/// An authority, certificates that it signed, and another authority.
fn make_certificates(folder: &Path) {
    fs::write(folder.join("sections"), SECTIONS).unwrap();
    let by = |authority| ["-CA", authority, "-CAkey", "ca.key"];
    certificate(folder, "ca", "authority", "db.example", &[]);
    certificate(folder, "server", "server", "other.example", &by("ca.crt"));
    certificate(folder, "common", "common", "db.example", &by("ca.crt"));
    certificate(folder, "client", "common", "cert", &by("ca.crt"));
    certificate(folder, "stranger", "authority", "cert", &[]);
    openssl(
        folder,
        "req -new -config sections -key server.key -subj /CN=db.example -out past.csr",
        &[],
    );
    openssl(
        folder,
        "x509 -req -in past.csr -CA ca.crt -CAkey ca.key -set_serial 8 -out first.crt",
        &[],
    );
    openssl(
        folder,
        "x509 -req -in past.csr -CA ca.crt -CAkey ca.key -set_serial 7 -days -1 -extfile sections -extensions server -out past.crt",
        &[],
    );
}

/// Makes NAME.crt and NAME.key.
fn certificate(folder: &Path, name: &str, section: &str, common_name: &str, more: &[&str]) {
    let subject = format!("/CN={common_name}");
    let [key, signed] = ["key", "crt"].map(|end| format!("{name}.{end}"));
    let own = ["-extensions", section, "-subj", &subject, "-keyout", &key, "-out", &signed];
    openssl(folder, NEW, &[&own, more].concat());
    let key = folder.join(key);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    if is_root(folder) {
        chown(key, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// Runs openssl in the folder.
fn openssl(folder: &Path, words: &str, more: &[&str]) {
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(words.split(' '))
        .args(more)
        .output()
        .expect("openssl is missing: scripts/install-missing test installs it");
    assert!(made.status.success(), "{made:?}");
}

fn without_tls(sealed: &Sealed) {
    for (mode, expected) in [
        ("disable", Plain),
        ("allow", Plain),
        ("prefer", Plain),
        ("require", Error("the server has no TLS")),
        ("verify-ca", Error("the server has no TLS")),
        ("verify-full", Error("the server has no TLS")),
    ] {
        let parameters = format!("sslmode={mode}&sslrootcert=FOLDER/ca.crt");
        sealed.check("yamba@db.example", &parameters, expected);
    }
}

fn each_mode(sealed: &Sealed) {
    let right = "sslrootcert=FOLDER/ca.crt";
    let wrong = "sslrootcert=FOLDER/stranger.crt";
    let not_signed = Error("no certificate of sslrootcert has signed");
    for (user, mode, roots, expected) in [
        ("yamba", "disable", "", Plain),
        ("yamba", "allow", "", Plain),
        ("yamba", "prefer", "", Tls),
        ("yamba", "require", "", Tls),
        ("yamba", "verify-ca", "", Error("root.crt is missing")),
        ("yamba", "verify-full", "", Error("root.crt is missing")),
        ("tls", "disable", "", Error("no pg_hba.conf entry")),
        ("tls", "allow", "", Tls),
        ("plain", "prefer", "", Plain),
        ("plain", "require", "", Error("no pg_hba.conf entry")),
        ("yamba", "prefer", right, Tls),
        ("yamba", "require", right, Tls),
        ("yamba", "verify-ca", right, Tls),
        ("yamba", "verify-full", right, Tls),
        ("yamba", "prefer", wrong, Plain),
        ("tls", "allow", wrong, not_signed),
        ("tls", "prefer", wrong, not_signed),
        ("yamba", "require", wrong, not_signed),
        ("yamba", "verify-ca", wrong, not_signed),
        ("yamba", "verify-full", wrong, not_signed),
    ] {
        let parameters = format!("sslmode={mode}&{roots}");
        let parameters = parameters.trim_end_matches('&');
        sealed.check(&format!("{user}@db.example"), parameters, expected);
    }
    sealed.check("yamba@db.example", "connect_timeout=9", Tls);
    let verified = |mode| format!("sslmode={mode}&{right}");
    // The common name does not count beside an alternative name.
    for host in ["yamba@other.example", "yamba@b.db.example", "yamba@127.0.0.1"] {
        sealed.check(host, &verified("verify-ca"), Tls);
        let fault = Error("the server's certificate is not for the name");
        sealed.check(host, &verified("verify-full"), fault);
    }
    let system = sealed.url("yamba@db.example", "sslrootcert=system");
    assert!(sealed.opened(&system).is_err());
    let socket = sealed.server.url("sealed") + "?sslmode=verify-full";
    assert!(!sealed.opened(&socket).unwrap());
}

fn client_certificate_logs_in(sealed: &Sealed) {
    let with = |name| format!("sslmode=require&sslcert=FOLDER/{name}.crt&sslkey=FOLDER/{name}.key");
    sealed.check("cert@db.example", &with("client"), Tls);
    sealed.check("cert@db.example", "sslmode=require", Error("valid client certificate"));
    sealed.check("cert@db.example", &with("stranger"), Error("the server refused TLS"));
    sealed.check("cert@db.example", &with("common"), Error("certificate authentication failed"));
}

fn scram_is_bound_to_the_channel(sealed: &Sealed) {
    let user = "scram:secret@db.example";
    sealed.check(user, "sslmode=require&channel_binding=require", Tls);
    sealed.check(user, "sslmode=disable&channel_binding=require", Error(""));
    let wrong = "scram:wrong@db.example";
    sealed.check(wrong, "sslmode=require", Error("password authentication failed"));
}

fn faulty_files_are_named(sealed: &Sealed) {
    fs::copy(sealed.path("client.key"), sealed.path("open.key")).unwrap();
    fs::set_permissions(sealed.path("open.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let client = "sslmode=require&sslcert=FOLDER/client.crt";
    for (parameters, expected) in [
        ("sslmode=require&sslrootcert=FOLDER/absent", StricterThanPsql("absent: No such file")),
        ("sslmode=verify-ca&sslrootcert=FOLDER/absent", Error("absent: No such file")),
        ("sslmode=verify-ca&sslrootcert=FOLDER/ca.key", Error("ca.key has no certificate")),
        ("sslmode=require&sslcert=FOLDER/absent", StricterThanPsql("sslcert: ")),
        (&format!("{client}&sslkey=FOLDER/absent"), Error("absent: No such file")),
        (&format!("{client}&sslkey=FOLDER/client.crt"), Error("client.crt")),
        (&format!("{client}&sslkey=FOLDER/open.key"), Error("other users can use the key")),
        (&format!("{client}&sslkey=FOLDER/server.key"), Error("TLS: ")),
    ] {
        sealed.check("yamba@db.example", parameters, expected);
    }
}

/// The URL, in the environment of a child process.
const CHILD: &str = "YAMBA_TEST_ENCRYPTED";

/// Connects to the URL in the environment of this process, which another test sets for a child.
#[test]
#[ignore = "needs postgres, psql and openssl"]
fn child_connects_with_its_environment() {
    if let Ok(url) = std::env::var(CHILD) {
        drop(TestStore::database(&url).open());
    }
}

fn environment_and_service_give_parameters(sealed: &Sealed) {
    let folder = sealed.server.folder.path().display();
    let service = format!("[checked]\nsslmode=verify-full\nsslrootcert={folder}/ca.crt\n");
    fs::write(sealed.path("services"), service).unwrap();
    let connects = |user: &str, parameters: &str, variables: &[(&str, &str)]| {
        let url = sealed.url(user, parameters);
        let variables = variables
            .iter()
            .map(|(name, value)| (name, value.replace("FOLDER", &folder.to_string())));
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--include-ignored",
                "--exact",
                "encrypted::child_connects_with_its_environment",
            ])
            .env("PGSERVICEFILE", sealed.path("services"))
            .envs(variables)
            .env(CHILD, url)
            .output()
            .unwrap();
        child.status.success()
    };
    let right = ("PGSSLROOTCERT", "FOLDER/ca.crt");
    let full = ("PGSSLMODE", "verify-full");
    assert!(connects("yamba@db.example", "connect_timeout=9", &[full, right]));
    assert!(!connects("yamba@wrong.example", "connect_timeout=9", &[full, right]));
    assert!(connects("yamba@wrong.example", "sslmode=require", &[full, right]));
    assert!(connects("yamba@db.example", "service=checked", &[]));
    assert!(!connects("yamba@wrong.example", "service=checked", &[]));
    let own = [("PGSSLCERT", "FOLDER/client.crt"), ("PGSSLKEY", "FOLDER/client.key")];
    assert!(connects("cert@db.example", "sslmode=require", &own));
    assert!(!connects("cert@db.example", "sslmode=require", &[]));
}

fn common_name_counts_without_alternative_names(sealed: &Sealed) {
    let full = "sslmode=verify-full&sslrootcert=FOLDER/ca.crt";
    sealed.check("yamba@db.example", full, Tls);
    sealed.check("yamba@wrong.example", full, Error("not for the name wrong.example"));
}

fn server_may_sign_its_own_certificate(sealed: &Sealed) {
    let full = "sslmode=verify-full&sslrootcert=FOLDER/ca.crt";
    sealed.check("yamba@db.example", full, Tls);
    sealed.check("yamba@wrong.example", full, Error("not for the name"));
    let other = "sslmode=verify-ca&sslrootcert=FOLDER/stranger.crt";
    sealed.check("yamba@db.example", other, Error("no certificate of sslrootcert"));
}

/// The library of TLS cannot read one.
fn certificate_of_the_first_version_is_refused(sealed: &Sealed) {
    let fault = StricterThanPsql("UnsupportedCertVersion");
    sealed.check("yamba@db.example", "sslmode=require", fault);
    sealed.check("tls@db.example", "sslmode=prefer", fault);
}

fn expired_certificate_is_refused(sealed: &Sealed) {
    let parameters = "sslmode=verify-ca&sslrootcert=FOLDER/ca.crt";
    sealed.check("yamba@db.example", parameters, Error("has expired"));
    sealed.check("yamba@db.example", "sslmode=require", Tls);
}
