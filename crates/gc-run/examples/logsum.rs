//! dev
use yamba_gc::log::*;
fn main() {
    for f in std::env::args().skip(1) {
        let t = std::fs::read_to_string(&f).unwrap();
        let l = read(&t);
        let mut b = [0.0; 2];
        let mut n = [0; 2];
        let mut p = [0.0; 2];
        for c in l.values() {
            match c.kind {
                Some(Kind::Young) | Some(Kind::Mixed) => {
                    b[0] += c.copied_bytes();
                    n[0] += 1;
                    p[0] += c.pauses_ns.iter().sum::<f64>()
                }
                Some(Kind::Full) => {
                    b[1] += c.old_bytes.1;
                    n[1] += 1;
                    p[1] += c.pauses_ns.iter().sum::<f64>()
                }
                _ => {}
            }
        }
        println!(
            "{f}: young {} copied {:.1} MB pause {:.1} ms; full {} {:.1} MB {:.1} ms",
            n[0],
            b[0] / 1e6,
            p[0] / 1e6,
            n[1],
            b[1] / 1e6,
            p[1] / 1e6
        );
    }
}
